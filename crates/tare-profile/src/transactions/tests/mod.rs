mod annotations;
mod calls;
mod dispatches;
mod known_times;
mod nonsense;
mod slices;
mod states;
mod told;
