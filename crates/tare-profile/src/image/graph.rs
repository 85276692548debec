//! Who calls whom, by the functions' places in a list.

/// A call that a function makes, at any number of places in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// What is called.
    pub to: u32,
    /// Only from parts that the compiler expects not to run: error paths.
    pub cold: bool,
}

/// What a function is there for, as far as calls of it tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Its work.
    #[default]
    Ordinary,
    /// It never returns to its caller: it gives up, or serves for ever.
    NeverReturns,
    /// Errors: most calls of it are from cold parts.
    Errors,
}

/// Calls between functions: direct ones from the machine code, and those by pointer once they were seen.
#[derive(Debug, Clone, Default)]
pub struct CallGraph {
    callees: Vec<Vec<Edge>>,
    roles: Vec<Role>,
}

impl CallGraph {
    /// Of so many functions, without calls.
    pub fn new(functions: usize) -> Self {
        Self { callees: vec![Vec::new(); functions], roles: vec![Role::Ordinary; functions] }
    }

    /// Adds a call; a cold one becomes an ordinary one when it is seen elsewhere too. Whether the pair is new.
    pub fn add(&mut self, from: u32, to: u32, cold: bool) -> bool {
        let callees = &mut self.callees[from as usize];
        match callees.binary_search_by_key(&to, |edge| edge.to) {
            Ok(at) => {
                callees[at].cold &= cold;
                false
            }
            Err(at) => {
                callees.insert(at, Edge { to, cold });
                true
            }
        }
    }

    /// What functions are there for.
    pub fn set_roles(&mut self, roles: Vec<Role>) {
        assert_eq!(roles.len(), self.callees.len(), "one for each function");
        self.roles = roles;
    }

    /// What a function is there for.
    pub fn role(&self, function: u32) -> Role {
        self.roles[function as usize]
    }

    /// How many functions there are.
    pub fn functions(&self) -> usize {
        self.callees.len()
    }

    /// How many pairs of caller and callee.
    pub fn edges(&self) -> usize {
        self.callees.iter().map(Vec::len).sum()
    }

    /// What a function calls, by place.
    pub fn callees(&self, function: u32) -> &[Edge] {
        &self.callees[function as usize]
    }

    /// What a function calls, by place; last what it calls only on error paths.
    pub fn children(&self, function: u32) -> Vec<u32> {
        let callees = self.callees(function);
        let error_path = |edge: &&Edge| edge.cold || self.role(edge.to) != Role::Ordinary;
        let ordinary = callees.iter().filter(|edge| !error_path(edge));
        ordinary.chain(callees.iter().filter(error_path)).map(|edge| edge.to).collect()
    }

    /// Who calls a function, by place.
    pub fn callers(&self, function: u32) -> Vec<u32> {
        let calls = |caller: &u32| self.callees[*caller as usize].iter().any(|edge| edge.to == function);
        (0..self.functions() as u32).filter(calls).collect()
    }

    /// All that `roots` call, and those call, and so on; the roots too. By place.
    pub fn reachable(&self, roots: &[u32]) -> Vec<u32> {
        let mut reached = vec![false; self.functions()];
        let mut next = roots.to_vec();
        while let Some(function) = next.pop() {
            if !std::mem::replace(&mut reached[function as usize], true) {
                next.extend(self.callees(function).iter().map(|edge| edge.to));
            }
        }
        (0..self.functions() as u32).filter(|function| reached[*function as usize]).collect()
    }
}
