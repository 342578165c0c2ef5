// Package mutants derives faults of the reference from the contract, by rule: each member of each answer dropped, changed, of another
// object or out of date; each parameter and each member of a request ignored or changed; each check of credentials skipped. Nobody chose
// them, so they show what the suite does not see.
//
// A mutant stands between the reference and its clients. It counts the exchanges that it changed: one that changed none proves nothing.
package mutants
