// Package controlplane is the reference control plane: the operations on deployments and their revisions of the
// interface, sections 1 to 5, 7 and 8, and the pipeline that builds and deploys revisions.
//
//	server.go       what it is made of, routes, who calls
//	deployments.go  create, list, get, update, delete
//	revisions.go    list, get
//	records.go      what is kept, and how it is read and written
//	pipeline.go     from CREATING to DEPLOYED
//
// Order of judgement: the route, then the caller, then the shape of path, query and body, then whether the
// deployment exists, then the rules on what it may become. A caller without credentials thus learns nothing about
// what exists.
//
// Where the interface is silent the reference decides: a parameter that is given twice is refused; an unknown status
// to filter by is refused rather than matched by nothing; a rule that a well-formed request breaks is a 400 with its
// reason; build_on_push is kept and shown but nothing is built on a push, since nothing here hears of one.
package controlplane
