package plane

import (
	"net/url"
)

// DeploymentsPath is where the deployments are (section 4).
const DeploymentsPath = "/v2/deployments"

// DeploymentPath is where one deployment is. Ids are the target's own and may need escaping.
func DeploymentPath(id string) string { return DeploymentsPath + "/" + url.PathEscape(id) }

// RevisionsPath is where the revisions of a deployment are.
func RevisionsPath(id string) string { return DeploymentPath(id) + "/revisions" }

// RevisionPath is where one revision is.
func RevisionPath(id, revision string) string {
	return RevisionsPath(id) + "/" + url.PathEscape(revision)
}
