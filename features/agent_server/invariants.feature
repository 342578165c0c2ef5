@agent-server
@shares:agent-server @record
Feature: What is true of every answer of the agent server
  Judged on all exchanges of a run, without requests of their own. Where a requirement that tells the same has failed, the
  rule here is left to it. A status of 500 or above is judged by the requirements about server errors.

  A conforming target may write ids as strings or integers; refuse what breaks the contract before it looks at the
  credentials.

  Background:
    Given a deployed agent server

  @AS-INVARIANT-1 @must @section-2 @section-4 @last
  @writes
  Rule: Every answer about a run has the run_id that the request asked for
    "Run: has run_id. ... GET /threads/{thread_id}/runs/{run_id} ... The run"

    Scenario: No answer of the agent server has another id than its request
      When all exchanges of this run are read
      Then each answer of the agent server has the id of its request

  @AS-INVARIANT-2 @must @section-5 @section-7 @last @security
  @needs:users @needs:agent.rejected_status|agent.rejected_detail
  Rule: Every refusal by the authentication handler has its status and detail
    "Custom handler rejects credentials ... Status and detail chosen by the handler; 401 is the shown case"
    Judged on requests of the interface that keep the contract and have no credentials or an unknown token, to
    operations that the server serves: the status if agent.rejected_status is configured, the detail if
    agent.rejected_detail is.

    Scenario: Each refusal of a caller without valid credentials is that of the handler
      Given an agent server that answered in this run
      When all exchanges of this run are read
      Then each refusal of the authentication handler has its status and detail

  @AS-INVARIANT-3 @must @section-5 @last @security
  @needs:users
  Rule: No request to the agent server without credentials or with an unknown token is answered with 2xx
    "When the handler is configured, requests must carry the authorization information of the chosen scheme."
    Judged on the operations of the interface, where users are configured: without an authentication handler an agent
    server may be open.

    Scenario: No request without valid credentials was served by the agent server
      Given an agent server that answered in this run
      When all exchanges of this run are read
      Then no agent-server request without valid credentials was answered with 2xx

  @AS-INVARIANT-4 @must @section-5 @last @security @isolation
  @needs:users.1 @writes
  Rule: No answer to one caller holds a thread_id, a run_id or a text of another user
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    Judged on every answer, those to requests beyond the interface included, for each user and for callers without valid
    credentials. What the caller has sent, in this request or before, may be in an answer. Texts and ids of less than
    12 characters are not judged, but for the values of thread_id.

    Scenario: Nothing of one user was in an answer to another
      When all exchanges of this run are read
      Then no answer to one caller holds an id or a text of another user

  @AS-INVARIANT-5 @must @section-3 @last @rollback
  @writes
  Rule: No answer to a request that was sent after the new run of a rollback had completed holds the prior run's id or text
    "The prior run is interrupted and completely deleted from storage; it cannot be restarted."
    Judged on answers with 2xx to the operations of the interface, for ids and texts of at least 12 characters, and for
    runs that were told to be in progress when they were rolled back. What the request itself carries may be in its
    answer.

    Scenario: Nothing of a run that was rolled back was in a later answer
      When all exchanges of this run are read
      Then no answer after a rollback holds the id or the text of the prior run

  @AS-INVARIANT-6 @should @section-7 @last @security
  @anonymous
  Rule: No refusal of the agent server holds a stack trace

    Scenario: No answer of the agent server with 4xx holds a stack trace
      Given an agent server that answered in this run
      When all exchanges of this run are read
      Then no refusal of the agent server holds a stack trace
