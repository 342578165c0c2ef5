// Package pipeline brings revisions from CREATING to DEPLOYED (interface, section 3), by real work:
//
//	CREATING         resolve the source to exact content     else CREATE_FAILED
//	QUEUED           wait for the deployment's worker
//	AWAITING_BUILD   wait for a free place
//	BUILDING         fetch the content, load the graphs      else BUILD_FAILED
//	AWAITING_DEPLOY  wait for a free place
//	DEPLOYING        put the new agent server in service     else DEPLOY_FAILED
//	DEPLOYED
//
// The store is the only truth. A worker looks there for what its deployment needs, does it, and looks again; a
// message to the pipeline only says that a look is worth while. That is why a restart needs nothing special: the
// workers look, and go on where the last process stopped. A status is never taken back.
//
// A deployment has one worker while there is work. Only its newest revision is worked on: an older one that was still
// waiting becomes SKIPPED, one that was being built INTERRUPTED. Putting in service is not interrupted; it is
// short, and an agent server without all of its graphs is of no use.
package pipeline
