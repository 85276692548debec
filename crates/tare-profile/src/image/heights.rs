//! A function's height: "the maximum depth of the call tree beneath it" (Huang, Mozafari, Schoenebeck and Wenisch,
//! SIGMOD 2017, §3.2), on which specificity (equation 2) rests.
//!
//! A tree has no circles; functions that call each other in one count as one level. Error paths would tie much of a
//! server into one circle (memory allocation reports errors, reporting errors allocates memory) and make a leaf as high
//! as the reporting of its errors. So calls from cold parts, and calls of functions that are there for errors, are left
//! out; then, within circles that are left, calls of functions that do not return.

use super::cycles::Components;
use super::graph::{CallGraph, Edge, Role};

/// Nodes of a call tree, which can be more than any integer counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TreeSize {
    /// All, the root among them.
    pub nodes: f64,
    /// Those that call nothing.
    pub leaves: f64,
}

impl CallGraph {
    /// By function's place; 0 calls nothing.
    pub fn heights(&self) -> Vec<u32> {
        let (circles, keep) = self.circles();
        let mut heights = vec![0; circles.count];
        for (component, members) in circles.members().into_iter().enumerate() {
            let calls = members
                .iter()
                .flat_map(|member| self.callees(*member).iter().map(move |edge| (*member, edge)));
            let beneath =
                calls.filter(|(from, edge)| keep(*from, edge)).map(|(_, edge)| circles.of[edge.to as usize]);
            let others = beneath.filter(|to| *to as usize != component);
            heights[component] = others.map(|to| heights[to as usize] + 1).max().unwrap_or(0);
        }
        circles.of.iter().map(|component| heights[*component as usize]).collect()
    }

    /// The most functions among `within` that call each other in a circle; none where no two do.
    pub fn largest_cycle(&self, within: &[u32]) -> Vec<u32> {
        let (circles, _) = self.circles();
        let mut members = vec![Vec::new(); circles.count];
        for function in within {
            members[circles.of[*function as usize] as usize].push(*function);
        }
        members.into_iter().max_by_key(Vec::len).filter(|members| members.len() > 1).unwrap_or_default()
    }

    /// Of the whole static call tree beneath `root`, error paths included: what a naive profiler would break down
    /// (§7.6). A circle counts each of its members once wherever it is entered.
    pub fn tree_size(&self, root: u32) -> TreeSize {
        let circles = Components::of(self, |_, _| true);
        let mut sizes = vec![TreeSize::default(); circles.count];
        for (component, members) in circles.members().into_iter().enumerate() {
            let mut size = TreeSize { nodes: members.len() as f64, leaves: 0.0 };
            for member in members {
                let callees = self.callees(member);
                size.leaves += f64::from(u8::from(callees.is_empty()));
                for edge in callees {
                    let to = circles.of[edge.to as usize] as usize;
                    if to != component {
                        size.nodes += sizes[to].nodes;
                        size.leaves += sizes[to].leaves;
                    }
                }
            }
            sizes[component] = size;
        }
        sizes[circles.of[root as usize] as usize]
    }

    /// Circles, and which calls count (caller, call).
    fn circles(&self) -> (Components, impl Fn(u32, &Edge) -> bool) {
        let works = |edge: &Edge| !edge.cold && self.role(edge.to) != Role::Errors;
        let tied = Components::of(self, |_, edge| works(edge));
        let keep = move |from: u32, edge: &Edge| {
            let circle = tied.of[from as usize] == tied.of[edge.to as usize];
            works(edge) && !(circle && self.role(edge.to) == Role::NeverReturns)
        };
        (Components::of(self, &keep), keep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(functions: usize, calls: &[(u32, u32)]) -> CallGraph {
        let mut graph = CallGraph::new(functions);
        for (from, to) in calls {
            graph.add(*from, *to, false);
        }
        graph
    }

    #[test]
    fn a_height_is_the_longest_chain_of_calls_beneath() {
        // Figure 1 of the paper, and below one of its leaves a chain of two more.
        let graph = graph(5, &[(0, 1), (0, 2), (2, 3), (3, 4)]);
        assert_eq!(graph.heights(), [3, 0, 2, 1, 0]);
    }

    #[test]
    fn functions_that_call_each_other_are_one_level() {
        let graph = graph(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (3, 3), (1, 4)]);
        assert_eq!(graph.heights(), [2, 1, 1, 0, 0]);
        assert_eq!(graph.largest_cycle(&[0, 1, 2, 3, 4]), [1, 2]);
        assert_eq!(
            graph.largest_cycle(&[0, 3, 4]),
            [0; 0],
            "a function that calls itself is no cycle of several"
        );
    }

    #[test]
    fn error_paths_neither_lengthen_chains_nor_close_circles() {
        let mut graph = graph(4, &[(0, 1), (1, 2)]);
        graph.add(2, 3, true);
        graph.add(3, 0, false);
        assert_eq!(graph.heights(), [2, 1, 0, 3]);
        graph.add(2, 3, false);
        assert_eq!(graph.heights(), [0; 4], "the call is now seen on an ordinary path too");
    }

    #[test]
    fn a_call_that_does_not_return_counts_unless_it_closes_a_circle() {
        // 0 serves for ever, called by 3; 2 gives up by calling 4, which shuts down by way of 1.
        let mut graph = graph(5, &[(3, 0), (0, 1), (1, 2), (2, 4), (4, 1)]);
        let never = Role::NeverReturns;
        graph.set_roles(vec![never, Role::Ordinary, Role::Ordinary, Role::Ordinary, never]);
        assert_eq!(graph.heights(), [2, 1, 0, 3, 2]);
    }

    #[test]
    fn what_reports_errors_has_a_height_and_gives_none() {
        // 1 warns by 2, which takes two more calls for it.
        let mut graph = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        graph.set_roles(vec![Role::Ordinary, Role::Ordinary, Role::Errors, Role::Ordinary, Role::Ordinary]);
        assert_eq!(graph.heights(), [1, 0, 2, 1, 0]);
        assert_eq!(graph.children(1), [2]);
    }

    #[test]
    fn a_tree_has_a_node_for_each_path() {
        // Twenty diamonds, one below the other: 2^20 paths to the last function.
        let diamonds: Vec<(u32, u32)> = (0..20)
            .flat_map(|d| {
                [(3 * d, 3 * d + 1), (3 * d, 3 * d + 2), (3 * d + 1, 3 * d + 3), (3 * d + 2, 3 * d + 3)]
            })
            .collect();
        let size = graph(61, &diamonds).tree_size(0);
        let paths = f64::from(1 << 20);
        assert_eq!(size, TreeSize { nodes: 4.0 * paths - 3.0, leaves: paths });
    }
}
