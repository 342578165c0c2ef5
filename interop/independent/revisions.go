package independent

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// statuses are all that the interface knows (section 3).
var statuses = []string{"CREATING", "QUEUED", "AWAITING_BUILD", "BUILDING", "AWAITING_DEPLOY", "DEPLOYING",
	"CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", deployed, "SKIPPED", "INTERRUPTED", "UNKNOWN"}

const deployed = "DEPLOYED"

// revision is guarded by Server.mu. What it was made from never changes.
type revision struct {
	id               string
	n                int // 1 is the first of its deployment
	status           string
	created, updated time.Time
	ref, path, image *string
	commit           *string
}

// addRevision needs s.mu. What is not asked for is taken over from the revision before.
func (s *Server) addRevision(d *deployment, want wish) {
	now := time.Now()
	rev := &revision{id: uuid.Must(uuid.NewUUID()).String(), n: len(d.revisions) + 1,
		created: now.Truncate(100 * time.Microsecond), updated: now, ref: want.ref, path: want.path, image: want.image}
	if rev.n > 1 {
		before := d.latest()
		rev.ref, rev.path, rev.image = cmp.Or(rev.ref, before.ref), cmp.Or(rev.path, before.path), cmp.Or(rev.image, before.image)
	}
	d.revisions = append(d.revisions, rev)
	keepTagRule(d)
	s.launch(d, rev)
}

// config leaves out what does not apply to the source: no field of it is marked required (interface, section 2).
func (rev *revision) config(source string) object {
	if source == sourceGit {
		return object{"repo_ref": rev.ref, "graph_config_path": rev.path, "repo_commit_sha": rev.commit, "shallow": true}
	}
	return object{"image_uri": rev.image, "digest": nil}
}

func (rev *revision) body(source string) object {
	return object{
		"id": rev.id, "created_at": createdAt(rev.created, rev.n), "updated_at": updatedAt(rev.updated, rev.n),
		"status": rev.status, "source": source, "source_revision_config": rev.config(source),
		"number": rev.n, "detail": nil, "tags": []string{}, "builder": object{"id": "b-7", "status": "IDLE"},
	}
}

func (s *Server) getRevision(tenant, id, revisionID string) response {
	c := &checker{}
	c.uuid("deployment_id", id)
	c.uuid("revision_id", revisionID)
	return s.withDeployment(c, tenant, id, func(d *deployment) response {
		i := slices.IndexFunc(d.revisions, func(rev *revision) bool { return rev.id == strings.ToLower(revisionID) })
		if i < 0 {
			return missing("«" + revisionID + "»: the deployment has no such revision")
		}
		return response{http.StatusOK, d.revisions[i].body(d.source)}
	})
}

// listRevisions is the interface's List Revisions (section 4).
func (s *Server) listRevisions(r *http.Request, tenant, id string) response {
	c := &checker{}
	c.uuid("deployment_id", id)
	q := r.URL.Query()
	limit, offset := c.page(q)
	keep := c.filter(q)
	return s.withDeployment(c, tenant, id, func(d *deployment) response {
		found := []object{}
		for _, rev := range slices.Backward(d.revisions) {
			if keep(rev) {
				found = append(found, rev.body(d.source))
			}
		}
		return response{http.StatusOK, object{"resources": cut(found, limit, offset), "offset": offset + limit, "total": len(found)}}
	})
}

// page reads the bounds of section 8.
func (c *checker) page(q url.Values) (limit, offset int) {
	limit = 20
	if text, sent := c.single(q, "limit"); sent {
		limit = c.whole([]any{"limit"}, text, 1, 100)
	}
	if text, sent := c.single(q, "offset"); sent {
		offset = c.whole([]any{"offset"}, text, 0, 0)
	}
	return limit, offset
}

// filter reads status and remote_reconciled. Here a revision is reconciled when it is up.
func (c *checker) filter(q url.Values) func(*revision) bool {
	var wanted []string
	if q.Has("status") {
		wanted = strings.Split(strings.Join(q["status"], ","), ",")
	}
	for _, part := range wanted {
		if !slices.Contains(statuses, part) {
			c.add([]any{"status"}, "unknown-value", "%q is no status", part)
		}
	}
	text, sent := c.single(q, "remote_reconciled")
	up := strings.EqualFold(text, "true")
	if sent && !up && !strings.EqualFold(text, "false") {
		c.add([]any{"remote_reconciled"}, "wrong-kind", "%q is neither true nor false", text)
	}
	return func(rev *revision) bool {
		return (len(wanted) == 0 || slices.Contains(wanted, rev.status)) && (!sent || up == (rev.status == deployed))
	}
}

func cut(all []object, limit, offset int) []object {
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))]
}
