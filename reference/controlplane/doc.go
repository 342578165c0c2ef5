// Package controlplane is the reference control plane. It serves the operations on deployments and revisions (interface,
// sections 1 to 5, 7 and 8), and contains the pipeline that builds and deploys revisions.
//
// Start reading with server.go:
//
//	server.go       options, routes and authentication (sections 4 and 5)
//	deployments.go  create, list, get, update and delete deployments (sections 1, 2 and 4)
//	revisions.go    list and get revisions (section 4)
//	records.go      the stored records (sections 2 and 3)
//	pipeline.go     the statuses from CREATING to DEPLOYED (section 3)
//
// A request is checked in this order: the route, the credentials, the format of path, query and body, whether the deployment
// exists, and the rules for its values. A caller without credentials therefore learns nothing about existing objects.
//
// The interface does not specify the following. The reference refuses a parameter that is sent twice, and an unknown status
// in a filter. A well-formed request that breaks a rule returns 400 with the reason. build_on_push is stored and shown, but
// has no effect, because the reference does not receive pushes.
package controlplane
