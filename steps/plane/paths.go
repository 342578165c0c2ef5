package plane

import (
	"net/url"
)

// deploymentsPath is where the deployments are (section 4).
const DeploymentsPath = "/v2/deployments"

func DeploymentPath(id string) string { return DeploymentsPath + "/" + url.PathEscape(id) }

func RevisionsPath(id string) string { return DeploymentPath(id) + "/revisions" }

func RevisionPath(id, revision string) string {
	return RevisionsPath(id) + "/" + url.PathEscape(revision)
}
