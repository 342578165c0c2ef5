package reports

// Note is an observation about the target that is not a failure.
type Note struct {
	Kind     NoteKind `json:"kind"`
	Text     string   `json:"text"`               // one sentence, without the count and the exchange
	Count    int      `json:"count,omitempty"`    // number of responses that show it; 0: one
	Exchange int      `json:"exchange,omitempty"` // id of the first exchange that shows it; 0: none
	Pointer  string   `json:"pointer,omitempty"`  // JSON pointer into the body of the response
}

// NoteKind is the kind of a note.
type NoteKind string

// The kinds of notes.
const (
	NoteOwnToken NoteKind = "own-token" // responses contain the caller's own token in clear text
	NoteListing  NoteKind = "listing"   // threads are listed by search, because GET /threads is not served or returns no array
	NoteRemoval  NoteKind = "removal"   // objects of the test run cannot be removed
	NoteGraph    NoteKind = "graph"     // the conformance graph does not understand a word of its contract
	NoteFixtures NoteKind = "fixtures"  // the target fetched nothing from the fixtures that the suite serves
	NoteSecret   NoteKind = "secret"    // a secret is too short to be found in all responses
	NoteInsecure NoteKind = "insecure"  // certificates were not verified
	NoteWaiting  NoteKind = "waiting"   // the test run was stopped while it waited for a revision
	NoteQueue    NoteKind = "queue"     // the agent server executes few runs at a time, and the suite started no more
	NoteExplored NoteKind = "explored"  // a half could not be explored
	NoteDetail   NoteKind = "detail"    // a refusal has its detail, but not as the string detail of a JSON object
	NoteRefusal  NoteKind = "refusal"   // the status of a refusal, if agent.rejected_status is not set
)
