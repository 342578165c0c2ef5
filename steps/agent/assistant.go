package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

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
// The answers decide it: they are the same but for the name of the assistant and for fields that every answer has another value
// of, such as an id of the request. They either contain the name, or differ from those to a run without an assistant and to one on
// an unknown thread.
func (s *Server) refusedAsInvented(ctx context.Context) (*client.Answer, error) {
	configured, invented, another := s.target.Config.AssistantID, "agentconform-"+target.UnknownID(), "agentconform-"+target.UnknownID()
	a, err := s.startAs(ctx, "", configured)
	if err != nil || !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}, a.Status) {
		return nil, err
	}
	other, err := s.startAs(ctx, "", invented)
	if err != nil || a.Status != other.Status {
		return nil, err
	}
	again, err := s.startAs(ctx, "", another)
	if err != nil {
		return nil, err
	}
	r := refusals{configured, fieldsOf(other, invented, another), fieldsOf(again, another, another)}
	if !r.same(a, other, invented) {
		return nil, nil
	}
	if bytes.Contains(other.Body, []byte(invented)) {
		return a, nil
	}
	for _, control := range []struct{ thread, assistant string }{{"", ""}, {target.UnknownID(), configured}} {
		c, err := s.startAs(ctx, control.thread, control.assistant)
		if err != nil || r.same(a, c, control.assistant) {
			return nil, err
		}
	}
	return a, nil
}

// refusals compares refusals of runs of the configured assistant with others.
type refusals struct {
	configured string
	one, two   map[string]string // fields of two answers that should be the same
}

// same tells whether two refusals are the same but for the name of the assistant of the second, and for what differs always.
func (r refusals) same(a, b *client.Answer, nameOfB string) bool {
	varies := func(name, _ string) bool { return r.one[name] != r.two[name] }
	fieldsA, fieldsB := fieldsOf(a, "", ""), fieldsOf(b, nameOfB, r.configured)
	maps.DeleteFunc(fieldsA, varies)
	maps.DeleteFunc(fieldsB, varies)
	return a.Status == b.Status && len(fieldsA) > 0 && maps.Equal(fieldsA, fieldsB)
}

// fieldsOf are the fields of an answer's JSON object as they were written, else the body, with a name replaced.
func fieldsOf(a *client.Answer, name, by string) map[string]string {
	body := a.Body
	if name != "" {
		body = bytes.ReplaceAll(body, []byte(name), []byte(by))
	}
	fields := map[string]string{}
	if whole := gjson.ParseBytes(body); json.Valid(body) && whole.IsObject() {
		whole.ForEach(func(key, value gjson.Result) bool {
			fields[key.Str] = value.Raw
			return true
		})
		return fields
	}
	fields[""] = string(body)
	return fields
}

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
