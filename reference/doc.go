// Package reference is a conforming implementation of the whole interface in one process: the control plane, the
// agent servers that it deploys, and the sources to deploy them from.
//
// [Start] puts the parts together and serves them on one address: the control plane at its root, every deployed
// agent server under /agents/<deployment id>, and a built-in one, which runs the conformance graph from the start,
// under /agents/conformance. Each part is a package that does not depend on the others:
//
//	controlplane            requests and answers of the control plane
//	controlplane/pipeline   builds and deploys a new revision
//	agentserver             threads, runs, authentication
//	source                  git repositories and container images
//	store                   one file with everything in it
//	fixtures                example sources to deploy, and credentials
//
// It is meant to be read, and copied from. Do not expose it to the internet: a caller with a key can make it
// read any repository on the machine that the process can read.
package reference
