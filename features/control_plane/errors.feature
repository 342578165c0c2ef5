@control-plane @form
Feature: Error responses of the control plane
  Status and body of error responses, judged on all responses of the test run, and errors for a form of request that
  must have none.

  A conforming target may word details freely; add input, ctx and url to validation errors; return 429 for some
  requests, or 503 with Retry-After, which the suite obeys and counts.

  @CP-ERROR-1 @must @section-4 @section-7 @last
  @record
  Rule: Every 404 for a list of revisions is a JSON object with a string detail
    "404 ... JSON object with detail string saying that the deployment id was not found"
    Judged on all such responses of the test run.

    Scenario: Every 404 for a list of revisions in the test run has a string detail
      Given a list of revisions that returned 404 in the test run
      When all such responses are read
      Then each is JSON with a string "detail"

  @CP-ERROR-2 @must @section-2 @section-4 @section-7 @last
  Rule: A 422 for a list of revisions is an HTTPValidationError that names an invalid parameter
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type)"
    The form is judged on all such responses of the test run: detail is an array with at least one item, and each item
    has loc (an array of strings and integers), msg (a string) and type (a string). The names are judged with an
    invalid limit and an invalid offset in one request: a server may stop at the first problem (CP-ERROR-5). The
    interface makes detail optional: an object without it belongs to CP-ERROR-5, too.

    @record
    Scenario: Every 422 for a list of revisions in the test run is an HTTPValidationError
      Given a list of revisions that returned 422 in the test run
      When all such responses are read
      Then each is an HTTPValidationError

    @reads @shares:deployment
    Scenario: An error about two invalid parameters names one of them
      Given an existing deployment
      And an invalid limit and an invalid offset that are each refused with an error that names them
      When the client lists its revisions with both of them
      Then the request is refused with 422 and an error that names "limit" or "offset"

  @CP-ERROR-5 @should @section-2 @section-7 @last
  Rule: Every 422 for a list of revisions has a detail that names each invalid parameter
    "detail ... array of ValidationError ... optional"
    Without it a client cannot tell which parameter is invalid. Judged on all such responses of the test run. The
    names are judged with an invalid limit and an invalid offset in one request.

    @reads @shares:deployment @after:CP-ERROR-2
    Scenario: An error about two invalid parameters names both
      Given an existing deployment
      And an invalid limit and an invalid offset that are each refused with an error that names them
      When the client lists its revisions with both of them
      Then the request is refused with 422 and an error that names "limit" and "offset"

    @record
    Scenario: Every 422 for a list of revisions in the test run has a detail
      Given a list of revisions that returned 422 in the test run
      When all such responses are read
      Then each has a "detail"

  @CP-ERROR-3 @must @section-4 @section-7 @last
  @anonymous @record
  Rule: Valid requests and invalid parameters at the control plane never return 500 or above
    "Create a deployment; the response contains id and latest_revision_id. ... Retrieve a deployment. ... Invalid
    request parameters ... 422, HTTPValidationError"
    Judged on all responses of the test run. The interface defines the responses to requests that match the contract,
    and 422 for an invalid parameter in path or query. A 503 with Retry-After is not judged: the suite waits, sends
    the request again, and counts the 503.

    Scenario: No valid request and no invalid parameter at the control plane returned 500 or above in the test run
      Given a control plane that responded in the test run
      When all its responses to requests that keep the contract or have an invalid parameter are read
      Then none has a status of 500 or above

  @CP-ERROR-4 @should @section-4 @section-7 @last
  @anonymous @writes @record
  Rule: An invalid request body at the control plane never returns a status of 500 or above
    Judged on all responses of the test run to a body that is not valid JSON or does not match the contract, and to
    operations beyond the interface. The interface does not define the responses to such requests.

    Scenario: No request with an invalid body at the control plane returned 500 or above in the test run
      Given a control plane that responded in the test run
      When all its responses to requests that break the contract in another way are read
      Then none has a status of 500 or above

  @CP-ERROR-6 @should @section-4
  @shares:changing
  Rule: charset=utf-8 in the Content-Type of a PATCH makes no difference
    "Requests carry header Content-Type: application/json where a body is sent."
    Many clients add the parameter. It has no effect (RFC 8259, section 11). Judged if the server accepts the same
    request without it.

    Scenario: An empty update with charset=utf-8 in its Content-Type is accepted
      Given a deployment that accepts updates
      When the client sends an empty update with Content-Type "application/json; charset=utf-8"
      Then the request is accepted as one without the charset
