//! Functions that call each other in a circle, put together (Tarjan 1972, strongly connected components), without
//! recursion of our own.

use super::graph::{CallGraph, Edge};

/// Each function's component. A component's number is above those of all it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Components {
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
}

const UNSEEN: u32 = u32::MAX;

struct Search {
    order: Vec<u32>, // in which functions were met
    low: Vec<u32>,   // the earliest that each leads back to
    met: u32,
    open: Vec<u32>, // met, and not in a component yet
    components: Components,
}

impl Components {
    /// Of the calls that `keep` keeps (caller, call).
    pub(super) fn of(graph: &CallGraph, keep: impl Fn(u32, &Edge) -> bool) -> Self {
        let functions = graph.functions();
        let components = Self { of: vec![UNSEEN; functions], count: 0 };
        let mut search = Search {
            order: vec![UNSEEN; functions],
            low: vec![0; functions],
            met: 0,
            open: Vec::new(),
            components,
        };
        for root in 0..functions as u32 {
            if search.order[root as usize] == UNSEEN {
                search.from(root, graph, &keep);
            }
        }
        search.components
    }

    /// Members by component.
    pub(super) fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.count];
        for (function, component) in self.of.iter().enumerate() {
            members[*component as usize].push(function as u32);
        }
        members
    }
}

impl Search {
    fn from(&mut self, root: u32, graph: &CallGraph, keep: &impl Fn(u32, &Edge) -> bool) {
        let mut path = vec![(root, 0)];
        self.meet(root);
        while let Some((function, next)) = path.last_mut() {
            let function = *function;
            if let Some(edge) = graph.callees(function).get(*next) {
                *next += 1;
                let to = edge.to as usize;
                if !keep(function, edge) {
                    continue;
                }
                if self.order[to] == UNSEEN {
                    self.meet(edge.to);
                    path.push((edge.to, 0));
                } else if self.components.of[to] == UNSEEN {
                    self.lower(function, self.order[to]);
                }
                continue;
            }
            path.pop();
            if self.low[function as usize] == self.order[function as usize] {
                self.close(function);
            }
            if let Some((caller, _)) = path.last() {
                self.lower(*caller, self.low[function as usize]);
            }
        }
    }

    fn meet(&mut self, function: u32) {
        self.order[function as usize] = self.met;
        self.low[function as usize] = self.met;
        self.met += 1;
        self.open.push(function);
    }

    fn lower(&mut self, function: u32, to: u32) {
        let low = &mut self.low[function as usize];
        *low = (*low).min(to);
    }

    fn close(&mut self, first: u32) {
        while let Some(function) = self.open.pop() {
            self.components.of[function as usize] = self.components.count as u32;
            if function == first {
                break;
            }
        }
        self.components.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn two_functions_share_a_component_just_when_each_reaches_the_other(
            calls in prop::collection::vec((0..12_u32, 0..12_u32), 0..40),
        ) {
            let mut graph = CallGraph::new(12);
            for (from, to) in calls {
                graph.add(from, to, false);
            }
            let components = Components::of(&graph, |_, _| true);
            let reached: Vec<Vec<u32>> = (0..12).map(|root| graph.reachable(&[root])).collect();
            for left in 0..12_u32 {
                for right in 0..12_u32 {
                    let leads = reached[left as usize].contains(&right);
                    let back = reached[right as usize].contains(&left);
                    let (of, to) = (components.of[left as usize], components.of[right as usize]);
                    prop_assert_eq!(of == to, leads && back);
                    prop_assert!(!leads || of >= to, "a component's number is above those of all it calls");
                }
            }
            let inhabited = components.members().into_iter().filter(|members| !members.is_empty());
            prop_assert_eq!(inhabited.count(), components.count);
        }
    }

    #[test]
    fn a_chain_longer_than_a_stack_is_no_trouble() {
        let mut graph = CallGraph::new(500_000);
        for function in 1..500_000 {
            graph.add(function - 1, function, false);
        }
        assert_eq!(Components::of(&graph, |_, _| true).count, 500_000);
    }
}
