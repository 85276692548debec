"use strict";
(async () => {
  const page = JSON.parse(document.getElementById("page-data").textContent);

  // Columns back into rows; {of, at}: strings that were written once.
  const rowsOf = (columns) => {
    const names = Object.keys(columns);
    const valueAt = (column, place) => (Array.isArray(column) ? column[place] : column.of[column.at[place]]);
    const first = names.length ? columns[names[0]] : [];
    const length = (Array.isArray(first) ? first : first.at).length;
    return Array.from({ length }, (_, place) => {
      const row = {};
      for (const name of names) row[name] = valueAt(columns[name], place);
      return row;
    });
  };

  const root = document.documentElement;
  let drawn = 0;
  for (const chart of page.charts) {
    const spec = chart.spec;
    spec.config = page.config;
    spec.datasets = Object.fromEntries(chart.data.map((name) => [name, rowsOf(page.data[name])]));
    try {
      await vegaEmbed(`#chart-${chart.name}`, spec, {
        renderer: "svg",
        ast: true, // no code is made from strings, so the page's policy can forbid it
        bind: `#controls-${chart.name}`,
        downloadFileName: chart.name,
        actions: { export: true, source: false, compiled: false, editor: false },
      });
      drawn += 1;
    } catch (error) {
      const place = document.getElementById(`chart-${chart.name}`);
      place.textContent = "This chart could not be drawn here; its numbers are in the tables.";
      console.error(chart.name, error);
    }
  }
  root.dataset.drawn = String(drawn);
})();
