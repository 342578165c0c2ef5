package faults

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentconform/agentconform/reference/agentserver"
)

// agentDirections returns the faults in which the second user is not protected from the first. The first user is protected.
func agentDirections() []Fault {
	return []Fault{
		{
			Name: "first-user-lists-everything", Breaks: "list threads and search threads return the threads of all users to the first user", Fails: "AS-AUTHZ-3",
			Apply: byOrder(func(first bool, a agentserver.Access, d *agentserver.Decision) {
				if first && a.Action == "search" {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "second-user-can-name-another-owner", Breaks: "create thread accepts any owner in the metadata from every user but the first", Fails: "AS-AUTHZ-4",
			Apply: byOrder(func(first bool, a agentserver.Access, d *agentserver.Decision) {
				if sent := object(a.Value["metadata"])["owner"]; !first && a.Action == "create" && sent != nil {
					d.Filter = maps.Clone(d.Filter)
					d.Filter["owner"] = sent
				}
			}),
		},
		{
			Name: "second-user-replaces-the-first", Breaks: "the runs of the first user that wait receive the second user's object", Fails: "AS-AUTH-7",
			Apply: secondUserWhileWaiting(),
		},
	}
}

// byOrder changes decisions about an access of the first user who had one, or of others.
func byOrder(change func(first bool, a agentserver.Access, d *agentserver.Decision)) Layer {
	return fresh(func() Layer {
		first := firstValue[string]{}
		return authorizing(nil, func(a agentserver.Access, d *agentserver.Decision) {
			change(first.keep(a.User.Identity) == a.User.Identity, a, d)
		})
	})
}

// secondUserWhileWaiting gives runs of the first user that report their caller after a wait the second user's object.
func secondUserWhileWaiting() Layer {
	return fresh(func() Layer {
		var first firstValue[string]
		var second atomic.Pointer[map[string]any]
		var waiting sync.Map // by thread
		return compose(
			authenticating(func() func(*agentserver.User) {
				return func(u *agentserver.User) {
					if !u.Studio && first.keep(u.Identity) != u.Identity {
						second.Store(&u.Fields)
					}
				}
			}),
			directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if said := string(readBody(r)); createRun.is(r) && d.isFirst(r) && strings.Contains(said, "whoami") && strings.Contains(said, "wait=") {
					waiting.Store(threadOf(r), true)
				}
				next.ServeHTTP(w, r)
			}),
			agentOptions(func(o *agentserver.Options) {
				o.GraphConfig = func(configurable map[string]any) {
					fields := second.Load()
					if _, waits := waiting.Load(configurable["thread_id"]); waits && fields != nil {
						configurable["graph_auth_user"] = *fields
					}
				}
			}),
		)
	})
}
