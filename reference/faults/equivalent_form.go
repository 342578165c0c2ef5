package faults

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/deviate"
)

// forms differ in how the same answers are encoded.
func forms() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "extra-fields", Place: "members", Differs: "every JSON object has additional fields",
			Apply: onEveryObject(func(o map[string]any) { o["x_extra"], o["élan"] = map[string]any{"of": []any{1, nil, "this"}}, "ß" }),
		},
		{
			Name: "times-with-an-odd-offset", Place: "times", Differs: "timestamps have the offset +05:45 and nanoseconds",
			Apply: onTimes(func(t time.Time) string {
				return t.In(time.FixedZone("", (5*60+45)*60)).Format("2006-01-02T15:04:05.000000000-07:00")
			}),
		},
		{
			Name: "times-in-seconds", Place: "times", Differs: "timestamps have no fraction",
			Apply: onTimes(func(t time.Time) string { return t.UTC().Format(time.RFC3339) }),
		},
		{
			Name: "ids-in-capitals", Place: "control plane ids", Differs: "the control plane returns UUIDs in upper case",
			Apply: onPlane(func(a *deviate.Answer) {
				a.Edit(eachObject(func(o map[string]any) {
					for _, key := range []string{"id", "latest_revision_id", "active_revision_id"} {
						if id := text(o, key); id != "" {
							o[key] = strings.ToUpper(id)
						}
					}
				}))
			}),
		},
		{
			Name: "no-nulls", Place: "nulls", Differs: "the control plane omits fields that are null",
			Apply: onPlane(func(a *deviate.Answer) {
				a.Edit(eachObject(func(o map[string]any) { maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil }) }))
			}),
		},
		{
			Name: "keys-in-another-order", Place: "order of keys", Differs: "the keys of JSON objects are in reverse order",
			Apply: onEveryJSON(func(a *deviate.Answer) {
				a.Body = backwards(deviate.Value(a.Body))
			}),
		},
		{
			Name: "pretty-printed", Place: "white space", Differs: "JSON is indented and ends with a newline",
			Apply: onEveryJSON(func(a *deviate.Answer) {
				var b bytes.Buffer
				if json.Indent(&b, a.Body, "\t", "    ") == nil {
					a.Body = append(b.Bytes(), "\r\n"...)
				}
			}),
		},
		{
			Name: "escaped-characters", Place: "escapes", Differs: "JSON strings contain unnecessary escapes",
			Apply: onEveryJSON(func(a *deviate.Answer) {
				a.Body = []byte(strings.NewReplacer("-", `\u002d`, "/", `\/`, "é", `\u00e9`).Replace(string(a.Body)))
			}),
		},
		{
			Name: "charset-in-odd-case", Place: "content type", Differs: "Content-Type is Application/JSON; Charset=UTF-8",
			Apply: onEveryJSON(func(a *deviate.Answer) { a.Header.Set("Content-Type", "Application/JSON; Charset=UTF-8") }),
		},
		{
			Name: "problems-are-problem-json", Place: "content type", Differs: "errors have Content-Type application/problem+json",
			Apply: onEveryJSON(func(a *deviate.Answer) {
				if a.Status >= 400 {
					a.Header.Set("Content-Type", "application/problem+json")
				}
			}),
		},
	}
}

// onEvery changes all answers of the control plane and of agent servers.
func onEvery(change func(r *http.Request, a *deviate.Answer)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := deviate.Capture(next, r)
		change(r, a)
		a.Send(w)
	})
}

func onEveryJSON(change func(a *deviate.Answer)) Layer {
	return onEvery(func(_ *http.Request, a *deviate.Answer) {
		if strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") && len(a.Body) > 0 {
			change(a)
		}
	})
}

func onEveryObject(change func(o map[string]any)) Layer {
	return onEveryJSON(func(a *deviate.Answer) {
		value := deviate.Value(a.Body)
		walk(value, change)
		a.JSON(value)
	})
}

// onPlane changes all answers of the control plane.
func onPlane(change func(a *deviate.Answer)) Layer {
	return onEvery(func(r *http.Request, a *deviate.Answer) {
		if isPlane(r) {
			change(a)
		}
	})
}

func isPlane(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v2/") }

// eachObject applies a change to an object and all objects in it.
func eachObject(change func(o map[string]any)) func(o map[string]any) {
	return func(o map[string]any) { walk(o, change) }
}

// walk visits every object of a JSON value, the inner ones first.
func walk(value any, visit func(o map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			walk(inner, visit)
		}
		visit(v)
	case []any:
		for _, inner := range v {
			walk(inner, visit)
		}
	}
}

// onTimes rewrites created_at and updated_at in all answers.
func onTimes(write func(t time.Time) string) Layer {
	return onEveryObject(func(o map[string]any) {
		for _, key := range []string{"created_at", "updated_at"} {
			if t, err := time.Parse(time.RFC3339Nano, text(o, key)); err == nil {
				o[key] = write(t)
			}
		}
	})
}

// backwards writes a JSON value with the keys of its objects in descending order.
func backwards(value any) []byte {
	var b bytes.Buffer
	switch v := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		b.WriteByte('{')
		for i, key := range slices.Backward(keys) {
			b.Write(encoded(key))
			b.WriteByte(':')
			b.Write(backwards(v[key]))
			if i > 0 {
				b.WriteByte(',')
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(backwards(item))
		}
		b.WriteByte(']')
	default:
		b.Write(encoded(v))
	}
	return b.Bytes()
}

func encoded(value any) []byte {
	text, _ := json.Marshal(value) // a value that was decoded from JSON
	return text
}
