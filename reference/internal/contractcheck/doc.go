// Package contractcheck validates what the reference's tests send and receive against the OpenAPI documents in spec, with
// kin-openapi. The suite judges with the oracle in spec; this is a second validator that shares no code with it, so an
// error in the oracle cannot hide one in the reference.
//
// It is for tests only: kin-openapi compiles a schema for each body it validates, which takes about half a millisecond.
//
// # What is checked
//
// Every answer: its status must be declared, and content type and body must match what is declared for the status, formats
// included. Not checked are 429 and 5xx, which the documents leave out, and answers to HEAD.
//
// Every request that is accepted, which is one with an answer below 400: parameters and body must match the documents. A
// request that is refused may be wrong in any way.
//
// Operations that the documents do not declare must be refused. Vendor extensions are declared, and marked as such.
package contractcheck
