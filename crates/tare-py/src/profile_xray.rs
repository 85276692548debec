//! The sleds of a server that clang built with them.

use std::path::Path;

use tare_profile::Result;
use tare_profile::backend::Backend;
use tare_profile::xray::Xray;

pub(crate) fn open(folder: &Path) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Xray::open(folder)?))
}
