package faults

import (
	"slices"
	"strings"
)

func agentStates() []Fault {
	return []Fault{
		{
			Name: "message-has-a-role", Breaks: "messages have role instead of type", Fails: "AS-STATE-1",
			Also: map[string]string{"AS-CONTRACT-get-state": "the contract also requires type"},
			Apply: onEachMessage(func(m map[string]any) {
				m["role"] = m["type"]
				delete(m, "type")
			}),
		},
		{
			Name: "messages-are-beside-values", Breaks: "messages are at the top level of the state instead of in values", Fails: "AS-STATE-1",
			Apply: onObject(getState, func(s map[string]any) {
				s["messages"] = object(s["values"])["messages"]
				s["values"] = map[string]any{}
			}),
		},
		{
			Name: "message-type-is-empty", Breaks: "type of messages is an empty string", Fails: "AS-STATE-1",
			Apply: onEachMessage(func(m map[string]any) { m["type"] = "" }),
		},
		{
			Name: "message-has-text", Breaks: "messages have text instead of content", Fails: "AS-STATE-1",
			Also: map[string]string{"AS-CONTRACT-get-state": "the contract also requires content"},
			Apply: onEachMessage(func(m map[string]any) {
				m["text"] = m["content"]
				delete(m, "content")
			}),
		},
		{
			Name: "tool-becomes-ai", Breaks: "tool messages have the type ai", Fails: "AS-STATE-2",
			Apply: retyped("tool", "ai"),
		},
		{
			Name: "tool-messages-are-left-out", Breaks: "tool messages are missing from the state", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				return slices.DeleteFunc(all, func(m map[string]any) bool { return m["type"] == "tool" })
			}),
		},
		{
			Name: "human-is-user", Breaks: "input messages have the type user instead of human", Fails: "AS-STATE-2",
			Apply: retyped("human", "user"),
		},
		{
			Name: "ai-is-assistant", Breaks: "answers have the type assistant instead of ai", Fails: "AS-STATE-2",
			Apply: retyped("ai", "assistant"),
		},
		{
			Name: "input-is-reversed", Breaks: "several input messages are shown in reverse order", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				for from := 0; from < len(all); from++ {
					to := from
					for to < len(all) && all[to]["type"] == "human" {
						to++
					}
					slices.Reverse(all[from:to])
					from = to
				}
				return all
			}),
		},
		{
			Name: "only-the-last-input-is-kept", Breaks: "of several input messages, only the last is stored", Fails: "AS-STATE-2",
			Apply: onSentMessages(func(all []any) []any { return all[len(all)-1:] }),
		},
		{
			Name: "first-input-is-answered", Breaks: "of several input messages, the first is answered instead of the last", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				last := lastExchange(slices.Clone(all))
				if len(last) > 2 && last[1]["type"] == "human" {
					last[len(last)-1]["content"] = last[0]["content"]
				}
				return all
			}),
		},
		{
			Name: "messages-come-newest-first", Breaks: "the state shows messages newest first", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				slices.Reverse(all)
				return all
			}),
		},
		{
			Name: "second-run-replaces-the-first", Breaks: "the state contains only the messages of the last run", Fails: "AS-STATE-3",
			Apply: onMessages(lastExchange),
		},
		{
			Name: "second-run-comes-first", Breaks: "messages of the last run come before those of earlier runs", Fails: "AS-STATE-3",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				last := lastExchange(slices.Clone(all))
				return append(last, all[:len(all)-len(last)]...)
			}),
		},
	}
}

// onMessages changes the messages of a state, if there are any.
func onMessages(change func(all []map[string]any) []map[string]any) Layer {
	return onObject(getState, func(s map[string]any) {
		values := object(s["values"])
		if all := items(values["messages"]); len(all) > 0 {
			values["messages"] = change(all)
		}
	})
}

// fiveUnanswered removes the answer to a last input of five words.
func fiveUnanswered(all []map[string]any) []map[string]any {
	last := lastExchange(all)
	if len(strings.Fields(text(last[0], "content"))) == 5 {
		return all[:len(all)-len(last)+1]
	}
	return all
}

func onEachMessage(change func(m map[string]any)) Layer {
	return onMessages(func(all []map[string]any) []map[string]any {
		for _, m := range all {
			change(m)
		}
		return all
	})
}

func retyped(is, shown string) Layer {
	return onEachMessage(func(m map[string]any) {
		if m["type"] == is {
			m["type"] = shown
		}
	})
}

// onSentMessages changes the input messages of create run.
func onSentMessages(change func(all []any) []any) Layer {
	return onSentRun(func(run map[string]any) {
		input := object(run["input"])
		if all, is := input["messages"].([]any); is && len(all) > 0 {
			input["messages"] = change(all)
		}
	})
}

// lastExchange returns the last consecutive human messages and all that follows.
func lastExchange(all []map[string]any) []map[string]any {
	at := len(all) - 1
	for at > 0 && all[at]["type"] != "human" {
		at--
	}
	for at > 0 && all[at-1]["type"] == "human" {
		at--
	}
	return all[at:]
}
