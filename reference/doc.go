// Package reference is a conforming implementation of the whole interface in one process: the control plane, the
// agent servers that it deploys, and the sources to deploy them from.
//
// [Start] puts the parts together and serves them on one address: the control plane at its root, every deployed
// agent server under /agents/<deployment id>, and a standing one, which runs the conformance graph from the start,
// under /agents/conformance. Each part is a package of its own that knows nothing of the others:
//
//	controlplane            what requests mean and what is answered
//	controlplane/pipeline   from a new revision to an agent server in service
//	agentserver             threads, runs, authentication
//	source                  git repositories and container images
//	store                   one file with everything in it
//	fixtures                something to deploy, and credentials
//
// It is meant to be read, and copied from. It is not meant to be exposed to strangers: whoever has a key may have it
// read any repository on the machine that it can read itself.
package reference
