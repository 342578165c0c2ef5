package faults

import (
	"slices"
	"strings"
)

func agentStates() []Fault {
	return []Fault{
		{
			Name: "message-has-a-role", Breaks: "messages have a role in place of a type", Fails: "AS-STATE-1",
			Also: map[string]string{"AS-CONTRACT-get-state": "the contract asks for a type, too"},
			Apply: onEachMessage(func(m map[string]any) {
				m["role"] = m["type"]
				delete(m, "type")
			}),
		},
		{
			Name: "messages-stand-beside-values", Breaks: "the messages stand at the top of the state, not below values", Fails: "AS-STATE-1",
			Apply: onObject(getState, func(s map[string]any) {
				s["messages"] = object(s["values"])["messages"]
				s["values"] = map[string]any{}
			}),
		},
		{
			Name: "message-type-is-empty", Breaks: "the type of messages is there, and empty", Fails: "AS-STATE-1",
			Apply: onEachMessage(func(m map[string]any) { m["type"] = "" }),
		},
		{
			Name: "message-has-text", Breaks: "messages have a text in place of a content", Fails: "AS-STATE-1",
			Also: map[string]string{"AS-CONTRACT-get-state": "the contract asks for a content, too"},
			Apply: onEachMessage(func(m map[string]any) {
				m["text"] = m["content"]
				delete(m, "content")
			}),
		},
		{
			Name: "tool-becomes-ai", Breaks: "what a tool has said is kept as said by the ai", Fails: "AS-STATE-2",
			Apply: retyped("tool", "ai"),
		},
		{
			Name: "tool-messages-are-left-out", Breaks: "the state shows no message of a tool", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				return slices.DeleteFunc(all, func(m map[string]any) bool { return m["type"] == "tool" })
			}),
		},
		{
			Name: "human-is-user", Breaks: "an input message keeps the role that was sent as its type", Fails: "AS-STATE-2",
			Apply: retyped("human", "user"),
		},
		{
			Name: "ai-is-assistant", Breaks: "the answer has the type assistant", Fails: "AS-STATE-2",
			Apply: retyped("ai", "assistant"),
		},
		{
			Name: "input-is-reversed", Breaks: "several messages of an input are shown last first", Fails: "AS-STATE-2",
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
			Name: "only-the-last-input-is-kept", Breaks: "of several messages of an input only the last is kept", Fails: "AS-STATE-2",
			Apply: onSentMessages(func(all []any) []any { return all[len(all)-1:] }),
		},
		{
			Name: "first-input-is-answered", Breaks: "of several messages of an input the first is answered", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				last := lastExchange(slices.Clone(all))
				if len(last) > 2 && last[1]["type"] == "human" {
					last[len(last)-1]["content"] = last[0]["content"]
				}
				return all
			}),
		},
		{
			Name: "messages-come-newest-first", Breaks: "the state shows the newest message first", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				slices.Reverse(all)
				return all
			}),
		},
		{
			Name: "second-run-replaces-the-first", Breaks: "the state holds the messages of the last run only", Fails: "AS-STATE-3",
			Apply: onMessages(lastExchange),
		},
		{
			Name: "second-run-comes-first", Breaks: "the messages of later runs come before those of earlier ones", Fails: "AS-STATE-3",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				last := lastExchange(slices.Clone(all))
				return append(last, all[:len(all)-len(last)]...)
			}),
		},
	}
}

// onMessages changes the messages of a state that has some.
func onMessages(change func(all []map[string]any) []map[string]any) Layer {
	return onObject(getState, func(s map[string]any) {
		values := object(s["values"])
		if all := items(values["messages"]); len(all) > 0 {
			values["messages"] = change(all)
		}
	})
}

// fiveUnanswered takes the answer away from a last input of five words.
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

// onSentMessages changes the messages of an input before the reference sees them.
func onSentMessages(change func(all []any) []any) Layer {
	return onSentRun(func(run map[string]any) {
		input := object(run["input"])
		if all, is := input["messages"].([]any); is && len(all) > 0 {
			input["messages"] = change(all)
		}
	})
}

// lastExchange returns the last input, which human messages are that nothing stands between, and what follows it.
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
