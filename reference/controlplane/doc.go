// Package controlplane is the reference control plane: the operations on deployments and their revisions of the
// interface, sections 1 to 5, 7 and 8, as one http.Handler.
//
// It decides what a request means and what is kept of it. What it needs is handed to it: a [Store] that keeps
// deployments and revisions, a [Pipeline] that brings revisions from CREATING to DEPLOYED, and the address of each
// deployment's agent server. It never builds or serves anything itself; package pipeline and a [Runtime] do that.
//
// Requests are decoded field by field by package validate rather than against the OpenAPI document: the code then
// says in one place what is asked and what is answered, all faulty parameters are named at once with the path that
// clients expect, and a request costs microseconds (a schema validator compiles for half a millisecond each time).
//
// Order of judgement: the route, then the caller, then the shape of path, query and body, then whether the
// deployment exists, then the rules on what it may become. A caller without credentials thus learns nothing about
// what exists.
//
// Where the interface is silent the reference decides: a parameter that is given twice counts as it was given last;
// an unknown status to filter by is refused rather than matched by nothing; a rule that a well-formed request breaks
// is a 400 with its reason; build_on_push is kept and shown but nothing is built on a push, for nothing here hears
// of one.
package controlplane
