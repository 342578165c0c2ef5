package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"github.com/agentconform/agentconform/reports/safe"
)

// SARIF writes the findings of r as SARIF 2.1.0, for the code-scanning views of code hosts. A rule is a requirement,
// a result is a finding: an error where it binds, else a warning. The place of a finding is the scenario that found
// it; what the finding is about stands in its logical location, the operation of the contract. Failures that the
// baseline covers are suppressed.
func SARIF(w io.Writer, r *Result) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(sarifOf(r))
	if err == nil {
		_, err = w.Write(safe.JSON(b.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	return nil
}

// object is a JSON object: the format is deep, and used in this file only.
type object map[string]any

func sarifOf(r *Result) object {
	rules, results, index := []object{}, []object{}, map[string]int{}
	for i, q := range r.Requirements {
		index[q.ID] = i
		rules = append(rules, object{
			"id": q.ID, "shortDescription": sarifText(q.Title), "help": sarifText(cmp.Or(q.Description, q.Title) + "\n" + sectionInWords(q.Section)),
			"defaultConfiguration": object{"level": sarifLevel(q.Level, r.Run.Strict)},
			"properties":           object{"tags": []string{q.Profile, string(q.Level)}},
		})
	}
	for i := range r.Findings {
		if at, ok := index[r.Findings[i].Requirement]; ok {
			results = append(results, sarifResult(r, &r.Requirements[at], at, &r.Findings[i]))
		}
	}
	driver := object{"name": "agentconform", "semanticVersion": r.Suite.Version, "rules": rules}
	if r.Suite.Version == "" {
		delete(driver, "semanticVersion")
	}
	return object{
		"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool": object{"driver": driver}, "results": results, "columnKind": "utf16CodeUnits",
			"automationDetails": object{"id": "agentconform/" + r.Run.ID},
			"properties":        object{"verdict": r.Verdict, "target": safe.Cut(subjects(r), 1000)},
		}},
	}
}

func sarifResult(r *Result, q *Requirement, at int, f *Finding) object {
	message := fmt.Sprintf("%s\nexpected: %s\nactual: %s", safe.Cut(f.Summary, 1000), safe.Cut(f.Expected, 4000), safe.Cut(f.Actual, 4000))
	if f.Curl != "" {
		message += "\ntry it: " + safe.Cut(f.Curl, 2000)
	}
	location := object{"logicalLocations": []object{{"fullyQualifiedName": safe.Cut(cmp.Or(f.Operation, q.ID)+f.Pointer, 1000), "kind": "function"}}}
	if s := scenarioOf(q, f); s != nil && s.URI != "" {
		location["physicalLocation"] = object{
			"artifactLocation": object{"uri": (&url.URL{Path: s.URI}).String()}, "region": object{"startLine": max(s.Line, 1)},
		}
	}
	result := object{
		"ruleId": q.ID, "ruleIndex": at, "level": sarifLevel(q.Level, r.Run.Strict), "message": sarifText(message), "locations": []object{location},
		"partialFingerprints": object{"finding/v1": cmp.Or(f.ID, q.ID)}, "occurrenceCount": max(f.Count, 1),
	}
	if known := cmp.Or(f.Known, q.Known); known != nil {
		result["suppressions"] = []object{{"kind": "external", "justification": safe.Visible(knownInWords(known))}}
	}
	return result
}

// sarifText makes a message. Readers take [text](address) and {0} in it for links and placeholders.
func sarifText(s string) object {
	var b bytes.Buffer
	for _, c := range safe.Visible(s) {
		switch c {
		case '[', ']', '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '{', '}':
			b.WriteString(string(c) + string(c))
		default:
			b.WriteRune(c)
		}
	}
	return object{"text": cmp.Or(b.String(), "-")}
}

func sarifLevel(l Level, strict bool) string {
	if binding(l, strict) {
		return "error"
	}
	return "warning"
}
