package steps

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// within looks again and again, less and less often, until there is nothing more to wait for or the time is over.
// That it is over is no error: what was hoped for is then judged as it is. A target may accept something (202)
// before it takes effect, and its lists may learn of it late.
func (r *run) within(ctx context.Context, limit time.Duration, look func() (done bool, err error)) error {
	start := time.Now()
	for wait := r.config.Polling.Interval; ; wait = min(wait*3/2, r.config.Polling.MaxInterval) {
		done, err := look()
		if done || err != nil || time.Since(start)+wait > limit {
			return err
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// later waits until something that was done in the background would be seen.
func (r *run) later(ctx context.Context, act *client.Answer) error {
	return client.Sleep(ctx, r.moment(act))
}

// moment is twice as long as the target took to answer, and longer where it said that it has only accepted the act.
func (r *run) moment(act *client.Answer) time.Duration {
	wait := max(50*time.Millisecond, 2*act.Took)
	if act.Status == http.StatusAccepted {
		wait = max(wait, 500*time.Millisecond)
	}
	return min(wait, r.config.Timeouts.Request)
}

// asItStands marks the kind of an update that sends a value which stands already.
const asItStands = " as it stands"

// kindOf tells updates apart by their fields: what one of a kind did not do, the next is not going to do.
func kindOf(change map[string]any) string {
	return strings.Join(slices.Sorted(maps.Keys(change)), " and ")
}

// awaitLatest reads the deployment until it names another latest revision than the known one, and returns the answer
// that does. It returns the known one when none came in time.
func (r *run) awaitLatest(ctx context.Context, update *client.Answer, kind, id, known string) (latest string, naming *client.Answer, err error) {
	latest = known
	err = r.within(ctx, r.appearing(update, kind), func() (bool, error) {
		a, err := r.get(ctx, deploymentPath(id), "")
		if err != nil {
			return false, err
		}
		if named := a.Get("latest_revision_id").String(); named != "" {
			latest, naming = named, a
		}
		return latest != known, nil
	})
	if err == nil && latest == known {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fruitless[kind] = true
	}
	return latest, naming, err
}

// appearing is how long the revision of an update may take to appear: some answers' time where the update was only
// accepted (202), else that of one. Where an earlier update made none, the next is waited for no longer than one
// answer may take, and one of the same kind for a moment only.
func (r *run) appearing(update *client.Answer, kind string) time.Duration {
	const accepted = 6
	one := min(r.config.Timeouts.Request, r.config.Timeouts.Poll)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.fruitless[kind] || r.fruitless[strings.TrimSuffix(kind, asItStands)]:
		return r.moment(update)
	case update.Status == http.StatusAccepted && len(r.fruitless) == 0:
		return min(r.config.Timeouts.Poll, accepted*one)
	}
	return one
}

// awaitFound reads what has just been created until it is no longer unknown.
func (r *run) awaitFound(ctx context.Context, path string) (a *client.Answer, err error) {
	err = r.within(ctx, r.config.Timeouts.Request, func() (bool, error) {
		a, err = r.get(ctx, path, "")
		return err == nil && a.Status != http.StatusNotFound, err
	})
	return a, err
}

// awaitListed waits until the list of a deployment holds the revisions.
func (r *run) awaitListed(ctx context.Context, id string, revisions ...string) error {
	return r.within(ctx, r.config.Timeouts.Request, func() (bool, error) {
		rows, a, err := r.listAll(ctx, id, "")
		if err != nil || !a.OK() {
			return true, nil // a list that cannot be read is for the scenarios to judge
		}
		listed := ids(rows)
		return !slices.ContainsFunc(revisions, func(id string) bool { return !slices.Contains(listed, id) }), nil
	})
}

// awaitLatestListed waits until the list holds the revision that the deployment names as its latest.
func (r *run) awaitLatestListed(ctx context.Context, id string) error {
	a, err := r.get(ctx, deploymentPath(id), "")
	if err != nil || !a.Get("latest_revision_id").Exists() {
		return err
	}
	return r.awaitListed(ctx, id, a.Get("latest_revision_id").String())
}

// settle waits until the deployment's latest revision has come to its end, however it ends: a target may take no
// update while it builds. A deployment of which one revision hung is not waited for again.
func (r *run) settle(ctx context.Context, id string) error {
	if r.hangs(id) {
		return nil
	}
	a, err := r.get(ctx, deploymentPath(id), "")
	if err != nil {
		return err
	}
	latest := a.Get("latest_revision_id").String()
	if latest == "" {
		return nil
	}
	h, err := r.poll(ctx, id, latest, r.settled)
	if err == nil && h.timedOut {
		r.noteHanging(id)
	}
	return err
}
