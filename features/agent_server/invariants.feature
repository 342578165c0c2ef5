@agent-server
@shares:agent-server
Feature: Invariants of all agent-server responses
  Judged on all exchanges of a test run, without requests of their own, and by reads of a thread after an event on it. If
  a requirement that reports the same violation has failed, the requirement here is not applicable. The requirements
  about server errors judge a status of 500 or above.

  A conforming target may write ids as strings or integers; refuse a request that breaks the contract before it checks
  the credentials.

  Background:
    Given a deployed agent server

  @AS-INVARIANT-1 @must @section-2 @section-4 @last
  @writes
  Rule: Every response about a run has the run_id of the request
    "Run: has run_id. ... GET /threads/{thread_id}/runs/{run_id} ... The run"

    @record
    Scenario: Every response of the agent server has the id of its request
      When all exchanges of the test run are read
      Then each response of the agent server has the id of its request

  @AS-INVARIANT-2 @must @section-5 @section-7 @last @security
  @needs:users @needs:agent.rejected_status|agent.rejected_detail
  Rule: Every refusal by the authentication handler has the handler's status and detail
    "Custom handler rejects credentials ... Status and detail chosen by the handler; 401 is the shown case"
    Judged on requests of the interface that match the contract and have no credentials or an unknown token, to
    operations that the server serves. The status is judged if agent.rejected_status is configured, the detail if
    agent.rejected_detail is.

    @record
    Scenario: Every refusal of a caller without valid credentials has the handler's status and detail
      Given an agent server that responded in the test run
      When all exchanges of the test run are read
      Then each refusal of the authentication handler has its status and detail

  @AS-INVARIANT-3 @must @section-5 @last @security
  @needs:users
  Rule: No agent-server request without credentials or with an unknown token returns 2xx
    "When the handler is configured, requests must carry the authorization information of the chosen scheme."
    Judged on the operations of the interface, if users are configured: without an authentication handler an agent
    server may be open.

    @record
    Scenario: No request to the agent server without valid credentials returned 2xx
      Given an agent server that responded in the test run
      When all exchanges of the test run are read
      Then no agent-server request without valid credentials returned 2xx

  @AS-INVARIANT-4 @must @section-5 @last @security @isolation
  @needs:users.1 @writes
  Rule: No response to one caller contains a thread_id, run_id or text of another user
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    Judged on every response, including those to requests beyond the interface, for each user and for callers without
    valid credentials. A response may contain what its caller has sent, in this request or before. Texts and ids of
    less than 12 characters are not judged, except for the values of thread_id.

    @record
    Scenario: No response to a caller contained an id or a text of another user
      When all exchanges of the test run are read
      Then no response to one caller contains an id or a text of another user

  @AS-INVARIANT-5 @must @section-3 @rollback
  @writes
  Rule: After a rollback, no response mentions the deleted run
    "The prior run is interrupted and completely deleted from storage; it cannot be restarted."
    No response to a request that was sent after the new run had completed contains the id or the text of the prior
    run. Within patience, a state that shows nothing of the new run is not judged. Judged on 2xx responses to the
    operations of the interface, for ids and texts of at least 12 characters, and for runs that were in progress, by the
    time that they were told to wait, when they were rolled back. A response may contain what its own request contains.

    @last
    @record
    Scenario: No response after a rollback contained the id or a text of the deleted run
      When all exchanges of the test run are read
      Then no response after a rollback contains the id or the text of the prior run

    @situation @after:AS-ROLLBACK-2 @after:AS-ROLLBACK-3
    Scenario Outline: No read of a thread on which <event>, and no list, shows the run
      Given a thread on which <event>
      When the thread is used again
      Then no read of the thread or list shows a run that was rolled back

      Examples:
        | event                                            |
        | a run was rolled back as soon as it was accepted |
        | a long run was rolled back                       |
        | a run was rolled back after two seconds          |
        | a run was rolled back while a join was pending   |
        | a run was rolled back after its join was dropped |
        | a run was rolled back by one with the same input |
        | a run was rolled back by one that failed         |
        | several runs were rolled back in turn            |

  @AS-INVARIANT-6 @should @section-7 @last @security
  @anonymous
  Rule: No 4xx response of the agent server contains a stack trace

    @record
    Scenario: No 4xx response of the agent server contained a stack trace
      Given an agent server that responded in the test run
      When all exchanges of the test run are read
      Then no refusal of the agent server contains a stack trace
