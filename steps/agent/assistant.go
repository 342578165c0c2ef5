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
	refused, err := s.agents.learned.unknownAssistant.Get(ctx, s.agents.maker, "a run of an invented assistant", s.refusedAsInvented)
	if err != nil {
		return err
	}
	if refused != nil {
		return outcome.Blocked("the agent server does not know the assistant %q: set assistant_id to the name of the conformance graph; a run is refused just as one of an invented assistant: %s",
			s.target.Config.AssistantID, outcome.Seen(refused)).By(reports.ByKey, "assistant_id")
	}
	return nil
}

// refusedAsInvented returns the refusal of a run of the configured assistant, nil where that is not refused for the assistant.
// The answers decide it: they are the same but for the name of the assistant and for what differs in each, such as an id of the request.
// They either contain the name, or differ from those to a run without an assistant and to one on an unknown thread.
func (s *Server) refusedAsInvented(ctx context.Context) (*client.Answer, error) {
	configured, invented := s.target.Config.AssistantID, "agentconform-"+target.UnknownID()
	said := func(a *client.Answer, name string) string {
		body := strings.ReplaceAll(string(a.Body), cmp.Or(name, configured), configured)
		return fmt.Sprint(a.Status, " ", varying.ReplaceAllString(body, ""))
	}
	a, err := s.startAs(ctx, "", configured)
	if err != nil || !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}, a.Status) {
		return nil, err
	}
	other, err := s.startAs(ctx, "", invented)
	if err != nil || said(other, invented) != said(a, configured) {
		return nil, err
	}
	if bytes.Contains(other.Body, []byte(invented)) {
		return a, nil
	}
	for _, control := range []struct{ thread, assistant string }{{"", ""}, {target.UnknownID(), configured}} {
		c, err := s.startAs(ctx, control.thread, control.assistant)
		if err != nil || said(c, control.assistant) == said(a, configured) {
			return nil, err
		}
	}
	return a, nil
}

// varying are the parts of a refusal that may have another value in each: ids, numbers and times.
var varying = regexp.MustCompile(`[0-9a-fA-F-]{16,}|\d+`)

// startAs starts a run of the assistant, or of none, on the thread, or on a new one.
func (s *Server) startAs(ctx context.Context, thread, assistant string) (*client.Answer, error) {
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
