package spec

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pb33f/jsonschema/v6"

	"github.com/agentconform/agentconform/spec/spelling"
)

// Oracle judges exchanges against the contract. It is safe for concurrent use; make one and share it.
type Oracle struct {
	contracts map[Side]*contract
}

// New reads and compiles both documents.
func New() (*Oracle, error) {
	o := &Oracle{map[Side]*contract{}}
	for _, side := range Sides() {
		c, err := compile(side, Document(side))
		if err != nil {
			return nil, err
		}
		o.contracts[side] = c
	}
	return o, nil
}

// Operations returns the operations of a side in the order of its document.
func (o *Oracle) Operations(side Side) (all []Operation) {
	for _, op := range o.contracts[side].operations {
		all = append(all, op.Operation)
	}
	return all
}

// Find returns the operation of a request, and whether there is one. If not, it returns an operation without an ID. The
// path is escaped and relative to the base address of the side.
func (o *Oracle) Find(side Side, method, path string) (*Operation, bool) {
	if op := o.find(side, method, path); op != nil {
		return &op.Operation, true
	}
	return &Operation{}, false
}

// Enums returns the listed values of each field, by names such as "Revision.status". For "Message.type" and
// "CreateRun.multitask_strategy" these are the values that the interface names, and others are allowed.
func (o *Oracle) Enums() map[string][]string {
	all := map[string][]string{}
	for _, c := range o.contracts {
		maps.Copy(all, c.enums)
	}
	return all
}

// JudgeResponse returns the violations of a response, each kind once and in a fixed order. Nil means that the response
// matches the contract, or that the contract does not cover it: an operation that is not in the documents or is a vendor
// extension, a 429 or a 5xx, a request without a response.
func (o *Oracle) JudgeResponse(x Exchange) []Violation {
	op := o.find(x.Side, x.Method, x.Path)
	if op == nil || op.Field || unjudged(x.Status) {
		return nil
	}
	return finish(op.judge(x), op.ID, x.Status)
}

func unjudged(status int) bool {
	return status == 0 || status == http.StatusTooManyRequests || status >= 500 && status <= 599
}

func (op *operation) judge(x Exchange) []Violation {
	declared := op.response(x.Status)
	switch {
	case declared == nil:
		return []Violation{{Keyword: "status", Expected: "status " + spelling.Either(op.Statuses),
			Actual: "status " + strconv.Itoa(x.Status)}}
	case x.Status == http.StatusNoContent && len(x.Body) > 0:
		return []Violation{{Keyword: "body", Expected: "no body with status 204", Actual: excerptBytes(x.Body)}}
	case declared.schema == nil:
		return nil
	case len(x.Body) == 0 && declared.bodyOptional:
		return nil
	case len(x.Body) == 0:
		return []Violation{{Keyword: "body", Expected: "a JSON body", Actual: "no body"}}
	}
	contentType := x.Header.Get("Content-Type")
	if media := mediaType(contentType); media != jsonType && slices.Contains(declared.contentTypes, media) {
		return nil // a text has no schema
	}
	if !isJSON(contentType) {
		return []Violation{{Keyword: "content-type", Expected: jsonType, Actual: contentTypeExcerpt(contentType, x.Body)}}
	}
	return judgeBody(declared.schema, x.Body)
}

// judgeBody returns the violations of a JSON text, then those of its value.
func judgeBody(schema *jsonschema.Schema, body []byte) []Violation {
	value, violations, decoded := decode(body)
	if decoded {
		violations = append(violations, violationsOf(schema, value)...)
	}
	return violations
}

// response returns the declaration for a status, or nil. An exact status takes precedence over a range.
func (op *operation) response(status int) *response {
	if r := op.responses[strconv.Itoa(status)]; r != nil {
		return r
	}
	return op.responses[strconv.Itoa(status/100)+"XX"]
}

// isJSON reports whether a content type is application/json or ends in +json (application/problem+json), in upper or
// lower case and with any parameters.
func isJSON(contentType string) bool {
	media := mediaType(contentType)
	return media == jsonType || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// mediaType returns the content type in lower case without its parameters.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

func contentTypeExcerpt(contentType string, body []byte) string {
	shown := excerptBytes(body)
	if value, _, isJSON := decode(body); isJSON {
		shown = excerpt(value)
	}
	if contentType == "" {
		return "no Content-Type, with the body " + shown
	}
	return excerptText(contentType) + ", with the body " + shown
}

// finish sorts the violations and keeps the first of each kind.
func finish(violations []Violation, operation string, status int) []Violation {
	if len(violations) == 0 {
		return nil
	}
	slices.SortStableFunc(violations, before)
	seen := map[string]bool{}
	kept := violations[:0]
	for _, v := range violations {
		v.Operation, v.Status = operation, status
		if key := v.Key(); !seen[key] {
			seen[key] = true
			kept = append(kept, v)
		}
	}
	return slices.Clip(kept)
}

// before compares violations by location, with array indices as numbers, then by keyword.
func before(a, b Violation) int {
	p, q := strings.Split(a.Pointer, "/"), strings.Split(b.Pointer, "/")
	order := slices.CompareFunc(p, q, func(s, t string) int {
		m, errM := strconv.Atoi(s)
		n, errN := strconv.Atoi(t)
		if errM == nil && errN == nil && m != n {
			return m - n
		}
		return strings.Compare(s, t)
	})
	if order != 0 {
		return order
	}
	return strings.Compare(a.Keyword, b.Keyword)
}
