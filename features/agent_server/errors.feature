@agent-server @form
@shares:agent-server
Feature: Errors of the agent server
  Statuses of 500 or above, judged on all responses of the test run, and errors for a form of request that must have none.

  A conforming target may return 429 for some requests, or 503 with Retry-After, which the suite obeys and counts.

  Background:
    Given a deployed agent server

  @AS-ERROR-1 @must @section-4 @section-7 @last
  @anonymous @record
  Rule: A valid request to the agent server never returns a status of 500 or above
    "Thread with thread_id ... Run with run_id ... Responds when the run completes ... The run ... State with
    values.messages ... List of threads"
    Judged on all responses of the test run. A valid request is one that matches the contract. A 503 with Retry-After
    is not judged: the suite waits, sends the request again, and counts the 503. The join of a run whose graph raised
    an error may return 500, which is noted.

    Scenario: No valid request to the agent server returned 500 or above in the test run
      Given an agent server that responded in the test run
      When all its responses to requests that keep the contract are read
      Then none has a status of 500 or above

  @AS-ERROR-2 @should @section-4 @section-7 @last
  @writes @record
  Rule: An invalid request to the agent server never returns a status of 500 or above
    Judged on all responses of the test run to a body that is not valid JSON or does not match the contract, to
    operations beyond the interface, and to GET and join of a run that a rollback has removed. The interface does not
    define the responses to such requests.

    Scenario: No invalid request to the agent server returned 500 or above in the test run
      Given an agent server that responded in the test run
      When all its responses to requests that break the contract are read
      Then none has a status of 500 or above

  @AS-ERROR-3 @should @section-4
  @writes
  Rule: charset=utf-8 in the Content-Type of a POST makes no difference
    "Requests carry header Content-Type: application/json where a body is sent."
    Many clients add the parameter. It has no effect (RFC 8259, section 11). Judged if the server accepts the same
    request without it.

    Scenario Outline: The request to <operation> with charset=utf-8 in its Content-Type is accepted
      Given a thread of the user
      When the user sends the request to <operation> with Content-Type "application/json; charset=utf-8"
      Then the request is accepted as one without the charset

      Examples:
        | operation       |
        | create a thread |
        | start a run     |
