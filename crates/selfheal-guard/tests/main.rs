//! Tests of the guard through its public surface: the corpora, and whole admissions.

mod admission;
mod corpus;
mod mutate;
