//! Whether what stands in the database is what was asked for.

use super::Problem;
use crate::oltp::events::LoadMarker;
use crate::oltp::request::Request;

/// Before a run and a check. A scale that was not given is the loaded one.
pub fn fit(request: &Request, loaded: Option<&LoadMarker>) -> Result<(), Problem> {
    let asked = &request.workload;
    let Some(loaded) = loaded else {
        let next = format!("load it first: tare bench oltp load {asked}");
        return Err(Problem::usage(format!("{asked} is not loaded in this database"), next));
    };
    if loaded.workload != *asked {
        let what = format!("this database holds {}, not {asked}", loaded.workload);
        return Err(Problem::usage(what, "name what it holds, or load into another database"));
    }
    if !loaded.complete {
        let what = format!("the load of {asked} into this database was interrupted");
        return Err(Problem::usage(
            what,
            "load it again with the same scale, seed and options: it continues where it stopped",
        ));
    }
    match request.scale {
        Some(scale) if scale != loaded.scale => Err(Problem::usage(
            format!("{asked} is loaded at scale {}, not {scale}", loaded.scale),
            "leave the scale out, or load again with --replace",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::oltp::request::Action;

    fn asked(workload: &str, scale: Option<f64>) -> Request {
        Request {
            url: String::new(),
            workload: workload.to_owned(),
            scale,
            options: BTreeMap::new(),
            seed: 1,
            protocol: None,
            connect_timeout_s: 1.0,
            action: Action::Drop,
        }
    }

    fn loaded(complete: bool) -> LoadMarker {
        LoadMarker { workload: "tpcc".to_owned(), scale: 4.0, seed: 7, options: "{}".to_owned(), complete }
    }

    fn refusal(request: &Request, loaded: Option<&LoadMarker>) -> String {
        let problem = fit(request, loaded).unwrap_err();
        assert!(problem.usage && !problem.next.is_empty());
        problem.what
    }

    #[test]
    fn what_is_loaded_fits_with_its_scale_or_none() {
        assert_eq!(fit(&asked("tpcc", None), Some(&loaded(true))), Ok(()));
        assert_eq!(fit(&asked("tpcc", Some(4.0)), Some(&loaded(true))), Ok(()));
    }

    #[test]
    fn what_is_not_as_asked_is_named() {
        assert!(refusal(&asked("tpcc", None), None).contains("not loaded"));
        assert!(refusal(&asked("ycsb", None), Some(&loaded(true))).contains("holds tpcc, not ycsb"));
        assert!(refusal(&asked("tpcc", Some(2.0)), Some(&loaded(true))).contains("at scale 4, not 2"));
        assert!(refusal(&asked("tpcc", None), Some(&loaded(false))).contains("interrupted"));
    }
}
