// Package compare puts several results side by side.
//
// The results are of several implementations, or of versions of one implementation. Changes of the suite are told apart
// from changes of the target: a new release of the suite adds, drops, renames and tightens requirements, and none of this
// is a regression. A regression is only a check that passed before and that fails now; see [Change] for the others.
package compare
