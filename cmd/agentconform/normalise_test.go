package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// recordedAt is the time at which the recorded run is said to have begun.
var recordedAt = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

var (
	uuidPattern    = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	cutUUIDPattern = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f-]{0,26}`)
	portPattern    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	timePattern    = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	cutTimePattern = regexp.MustCompile(`\b20\d\d-[-0-9T:.]*(…|\\u2026| \.\.\.)`)
	datePattern    = regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT`)
	epochPattern   = regexp.MustCompile(`\b1[789]\d{8}\b`)
)

// normalisedText replaces ids, addresses and times in a result file. What was the same stays the same, and the order of
// times stays what it was.
func normalisedText(text string) string {
	uuids := map[string]string{}
	text = uuidPattern.ReplaceAllStringFunc(text, func(id string) string {
		if strings.HasPrefix(id, "00000000-") { // the suite's own
			return id
		}
		if uuids[id] == "" {
			uuids[id] = fmt.Sprintf("1d%06d-0000-4000-8000-%012d", len(uuids)+1, len(uuids)+1)
		}
		return uuids[id]
	})
	text = cutUUIDPattern.ReplaceAllStringFunc(text, func(cut string) string {
		for id, numbered := range uuids {
			if strings.HasPrefix(id, cut) {
				return numbered[:len(cut)]
			}
		}
		return cut
	})
	ports := map[string]string{}
	text = portPattern.ReplaceAllStringFunc(text, func(address string) string {
		if ports[address] == "" {
			ports[address] = fmt.Sprintf("127.0.0.1:%d", 8123+len(ports))
		}
		return ports[address]
	})
	text = cutTimePattern.ReplaceAllStringFunc(text, func(cut string) string {
		end := strings.IndexAny(cut, "… \\")
		return recordedAt.Format("2006-01-02T15:04:05.000000")[:end] + cut[end:]
	})
	text = datePattern.ReplaceAllString(text, recordedAt.Format(http.TimeFormat))
	text = epochPattern.ReplaceAllString(text, strconv.FormatInt(recordedAt.Unix(), 10))
	return inOrderOfTime(text)
}

// inOrderOfTime replaces the times in a text by times a few milliseconds apart, in the same order.
func inOrderOfTime(text string) string {
	times := map[string]time.Time{}
	for _, stamp := range timePattern.FindAllString(text, -1) {
		if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			times[stamp] = at
		}
	}
	var sorted []string
	for stamp := range times {
		sorted = append(sorted, stamp)
	}
	slices.SortFunc(sorted, func(a, b string) int { return times[a].Compare(times[b]) })
	numbered := map[string]string{}
	for i, stamp := range sorted {
		numbered[stamp] = recordedAt.Add(time.Duration(i) * 25 * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	}
	return timePattern.ReplaceAllStringFunc(text, func(stamp string) string {
		if numbered[stamp] == "" {
			return stamp
		}
		return numbered[stamp]
	})
}

// withLength corrects the length that a message claims, where its body was changed.
func withLength(m reports.Message) reports.Message {
	if m.Size == 0 && len(m.Headers["Content-Length"]) == 1 {
		m.Headers["Content-Length"] = []string{strconv.Itoa(len(m.Body))}
	}
	return m
}
