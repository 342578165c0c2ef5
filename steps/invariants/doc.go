// Package invariants judges, when all scenarios that send requests have ended, what must be true of every recorded exchange of a run:
// that an answer has the id that was asked for, that nobody is served without credentials. It sends no requests.
//
// An invariant shows what no scenario looks for. Where a requirement that tells the same has failed, the invariant is left to
// it: one fault is one finding. A status of 500 or above belongs to the requirements about server errors and is not judged here.
package invariants
