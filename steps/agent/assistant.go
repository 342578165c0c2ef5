package agent

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// KnowsAssistant blocks where the server refuses a run of the configured assistant just as one of an invented assistant, and
// for that reason. A server that refuses all runs alike is judged.
func (s *Server) KnowsAssistant(ctx context.Context) error {
	if !s.judged {
		return nil
	}
	refused, err := s.agents.learned.unknownAssistant.Get(ctx, s.agents.maker, "a run of an invented assistant", trials{s}.refusedAsInvented)
	if err != nil {
		return err
	}
	if refused != nil {
		return outcome.Blocked("the agent server does not know the assistant %q: it refuses a run just as one of an invented assistant: %s; set assistant_id to the name of the conformance graph",
			s.target.Config.AssistantID, outcome.Seen(refused)).By(reports.ByKey, "assistant_id")
	}
	return nil
}

// refusedAsInvented returns the refusal of a run of the configured assistant, nil where that is not refused for the assistant.
// The answers decide it: they are the same but for the name of the assistant, and either contain that name, or differ from
// those to a run without an assistant and to one on an unknown thread.
func (s trials) refusedAsInvented(ctx context.Context) (*client.Answer, error) {
	configured, invented := s.target.Config.AssistantID, "agentconform-"+target.UnknownID()
	a, err := s.startAs(ctx, "", configured)
	if err != nil || !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}, a.Status) {
		return nil, err
	}
	other, err := s.startAs(ctx, "", invented)
	if err != nil || !sameRefusal(a, other, configured, invented) {
		return nil, err
	}
	if bytes.Contains(other.Body, []byte(invented)) {
		return a, nil
	}
	for _, control := range []struct{ thread, assistant string }{{"", ""}, {target.UnknownID(), configured}} {
		c, err := s.startAs(ctx, control.thread, control.assistant)
		if err != nil || sameRefusal(a, c, configured, control.assistant) {
			return nil, err
		}
	}
	return a, nil
}

// sameRefusal tells whether two answers are the same but for the names.
func sameRefusal(a, b *client.Answer, nameA, nameB string) bool {
	body := b.Body
	if nameB != "" {
		body = bytes.ReplaceAll(body, []byte(nameB), []byte(nameA))
	}
	return a.Status == b.Status && bytes.Equal(a.Body, body)
}

// startAs starts a run of the assistant, or of none, on the thread, or on a new one.
func (s trials) startAs(ctx context.Context, thread, assistant string) (*client.Answer, error) {
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
