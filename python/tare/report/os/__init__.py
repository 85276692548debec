"""Report of `tare os`: its document, its story and its charts."""
