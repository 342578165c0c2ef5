package agent

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// SharedCompletedRun returns a completed run on a thread that no scenario changes. A run whose graph has failed counts
// as completed. Callers that need its answer also call PlainRunsWork or Understood.
func (s *Server) SharedCompletedRun(ctx context.Context) (*GraphRun, error) {
	return shared.Get(ctx, s.maker, "a completed run", func(ctx context.Context) (*GraphRun, error) {
		// this is the first run, so the limit of runs in progress is unknown
		g, err := s.unbounded().completeAlone(ctx, s.target.Owner())
		if err == nil && s.judged && g.Joined && g.Complete() {
			s.completed.Store(g)
		}
		return g, err
	})
}

// CompletedRun is like SharedCompletedRun, but the thread belongs to s.Owner, who may be another user.
func (s *Server) CompletedRun(ctx context.Context) (*GraphRun, error) {
	first, err := s.SharedCompletedRun(ctx)
	if err != nil || s.owner == nil {
		return first, err
	}
	return shared.Get(ctx, s.maker, "a completed run of "+otherUsers[s.owner.Key], func(ctx context.Context) (*GraphRun, error) {
		t, err := s.threadOfOther(ctx, *s.owner)
		// A scenario about a new deployment may have created the thread at its agent server.
		if err == nil && t != nil && t.Usable() == nil && t.Response.Request.Base == s.Base {
			return s.complete(ctx, t)
		}
		return s.completeAlone(ctx, *s.owner)
	})
}

// otherUsers has the names of users other than the first, by key. They are part of the names of fixtures.
var otherUsers = map[string]string{"users.1": "the second user", "users.2": target.SameIdentityUser}

func (s *Server) completeAlone(ctx context.Context, who target.Caller) (*GraphRun, error) {
	t, err := s.NewThread(ctx, who)
	if err != nil {
		return nil, err
	}
	return s.complete(ctx, t)
}

// complete starts a plain run and waits for it, whatever its graph does. After a 404 it starts another one, because many
// scenarios need the run: a server that does not find a new thread at once must fail only AS-RUN-1.
func (s *Server) complete(ctx context.Context, t *Thread) (*GraphRun, error) {
	o := Order{trial: true}
	g, err := s.Post(ctx, t, o)
	if err == nil && g.Response.Status == http.StatusNotFound {
		if err := client.Sleep(ctx, s.target.Config.Patience); err != nil {
			return nil, err
		}
		g, err = s.Post(ctx, t, o)
	}
	if err != nil {
		return nil, err
	}
	if err := outcome.Unless(ctx, g.Accepted(), s.KnowsAssistant); err != nil {
		return nil, err
	}
	_, err = s.Await(ctx, g)
	return g, err
}

// PlainRunsWork returns a blocked outcome if the state after a plain run is not its input and its answer, because then
// messages of this target cannot be judged.
func (s *Server) PlainRunsWork(ctx context.Context) error {
	g, err := s.SharedCompletedRun(ctx)
	if err != nil {
		return err
	}
	if err := s.Understood(ctx); err != nil {
		return err
	}
	if err := HoldsOnly(g.Final, g); err != nil {
		return outcome.Blocked("the state of a thread with one plain run: %v", err).
			By(reports.ByFixture, "a completed run")
	}
	return nil
}

// OtherIsLetIn returns a blocked outcome if the server refuses the other user even for the user's own threads. A refusal
// then proves nothing about the owner of a thread.
func (s *Server) OtherIsLetIn(ctx context.Context, other target.Caller) error {
	_, err := s.threadOfOther(ctx, other)
	return err
}

// threadOfOther returns a thread of the other user without a run. It returns nil if the server shows no state of such a
// thread, and a blocked outcome if it refuses the other user.
func (s *Server) threadOfOther(ctx context.Context, other target.Caller) (*Thread, error) {
	return shared.Get(ctx, s.maker, otherUsers[other.Key], func(ctx context.Context) (*Thread, error) {
		t, err := s.CreateThread(ctx, other, nil)
		if err != nil {
			return nil, err
		}
		switch {
		case t.ID == "" && s.target.Rejects(spec.AgentServer, t.Response.Status):
			return nil, s.credentialsRefused(other, t.Response)
		case t.ID == "":
			return nil, outcome.Blocked("no thread of %s is created (AS-THREAD-1): %s", other.Key, outcome.Seen(t.Response)).
				ByRequirement("AS-THREAD-1")
		}
		state, err := s.State(ctx, other, t)
		if err != nil {
			return nil, err
		}
		if state.OK() {
			return t, nil
		}
		g, err := s.Post(ctx, t, Order{}) // a thread without a run need not have a state
		switch {
		case err != nil || g.ID != "":
			return nil, err
		case s.target.Rejects(spec.AgentServer, g.Response.Status):
			return nil, s.credentialsRefused(other, g.Response)
		case g.Response.Status == http.StatusNotFound:
			return nil, outcome.Blocked("a new thread of %s is not found (AS-THREAD-1): %s", other.Key,
				outcome.Seen(g.Response)).ByRequirement("AS-THREAD-1")
		}
		return nil, outcome.Blocked("a run of %s on its own new thread is refused (AS-RUN-1): %s", other.Key,
			outcome.Seen(g.Response)).ByRequirement("AS-RUN-1")
	})
}

func (s *Server) credentialsRefused(user target.Caller, refused *exchange.Response) error {
	const why = "the credentials of %s are refused, correct %s: %s"
	_, credential := s.target.Config.CredentialOf(slices.Index(s.target.UserKeys(), user.Key))
	return outcome.Blocked(why, user.Key, credential, outcome.Seen(refused)).By(reports.ByKey, user.Key)
}

// RunsAdd reports whether a second plain run on a thread adds to the messages of the first (AS-STATE-3).
func (s *Server) RunsAdd(ctx context.Context) (bool, error) {
	return shared.Get(ctx, s.maker, "two runs on a thread", func(ctx context.Context) (bool, error) {
		if err := s.PlainRunsWork(ctx); err != nil {
			return false, err
		}
		p, err := s.preflight(ctx)
		if err != nil {
			return false, err
		}
		first := p.plain
		if first == nil {
			first, err = s.RunAlone(ctx, s.target.Owner(), Order{})
			if err != nil {
				return false, err
			}
		}
		second, err := s.Run(ctx, first.Thread, Order{})
		return err == nil && HoldsOnly(second.Final, first, second) == nil, err
	})
}

// KnowsAssistant returns a blocked outcome if the server does not know the configured assistant: it refuses runs of it
// and runs of an invented assistant in the same way. If it refuses all other runs in the same way too, the server is
// judged.
func (s *Server) KnowsAssistant(ctx context.Context) error {
	if !s.judged {
		return nil
	}
	refused, err := shared.Get(ctx, s.maker, "a run of an invented assistant", s.refusedAsInvented)
	if refused == nil || err != nil {
		return err
	}
	const why = "the agent server does not know the assistant %q: set assistant_id to the name of the conformance " +
		"graph; a run is refused just as one of an invented assistant: %s"
	return outcome.Blocked(why, s.target.Config.AssistantID, outcome.Seen(refused)).By(reports.ByKey, "assistant_id")
}

// refusedAsInvented returns the refusal of a run of the configured assistant, or nil if the assistant is not the reason.
// The assistant is the reason if the refusal equals the refusal of an invented assistant, except for the name and for
// varying parts such as a request ID. The refusal must also contain the name, or differ from the refusals of a run
// without an assistant and of a run on an unknown thread.
func (s *Server) refusedAsInvented(ctx context.Context) (*exchange.Response, error) {
	configured, invented := s.target.Config.AssistantID, "agentconform-"+target.UnknownID()
	said := func(a *exchange.Response, name string) string {
		body := strings.ReplaceAll(string(a.Body), cmp.Or(name, configured), configured)
		return fmt.Sprint(a.Status, " ", varying.ReplaceAllString(body, ""))
	}
	a, err := s.startAs(ctx, "", configured)
	ofAssistant := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}
	if err != nil || !slices.Contains(ofAssistant, a.Status) {
		return nil, err
	}
	for _, other := range []struct {
		thread, assistant string
		same              bool // the refusal must be the same
	}{{"", invented, true}, {"", "", false}, {target.UnknownID(), configured, false}} {
		refusal, err := s.startAs(ctx, other.thread, other.assistant)
		if err != nil || (said(refusal, other.assistant) == said(a, configured)) != other.same {
			return nil, err
		}
		if bytes.Contains(refusal.Body, []byte(invented)) {
			break
		}
	}
	return a, nil
}

// varying matches the parts of a refusal that differ between requests: ids, numbers and times.
var varying = regexp.MustCompile(`[0-9a-fA-F-]{16,}|\d+`)

// startAs starts a run of the assistant on the thread. An empty assistant is not sent, and a nil thread means a new one.
func (s *Server) startAs(ctx context.Context, thread, assistant string) (*exchange.Response, error) {
	owner := s.target.Owner()
	if thread == "" {
		t, err := s.NewThread(ctx, owner)
		if err != nil {
			return nil, err
		}
		thread = t.ID
	}
	body := map[string]any{"input": Input([]string{s.target.Name("word")})}
	if assistant != "" {
		body["assistant_id"] = assistant
	}
	request := s.target.ToAgent(s.Base, owner, http.MethodPost, RunsPath(thread), body)
	request.Wrong = assistant == ""
	return s.target.Client.Do(ctx, request)
}
