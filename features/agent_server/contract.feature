@agent-server @form
@shares:agent-server @record
Feature: Contract of the agent server
  Every response of the test run is compared with the OpenAPI document of the agent server, which allows any value if
  the interface specifies none.

  A conforming target may add fields to any object; write thread_id and run_id as strings or integers, and content as
  a string or an array of parts; respond to a join with any JSON, plain text or no body; send any body with a refusal;
  take 80 ms and more for every response, with jitter.

  Background:
    Given a deployed agent server

  @AS-CONTRACT-create-thread @must @section-2 @section-4 @last
  @writes
  Rule: Every create-thread response matches the OpenAPI contract
    "POST /threads ... Thread with thread_id"

    Scenario: Every create-thread response in the test run matches the contract
      Given at least one response to "create-thread" in the test run
      When all responses to "create-thread" are compared with the contract
      Then all responses match the contract

  @AS-CONTRACT-create-run @must @section-2 @section-4 @last
  @writes
  Rule: Every create-run response matches the OpenAPI contract
    "POST /threads/{thread_id}/runs ... Run with run_id"

    Scenario: Every create-run response in the test run matches the contract
      Given at least one response to "create-run" in the test run
      When all responses to "create-run" are compared with the contract
      Then all responses match the contract

  @AS-CONTRACT-join-run @must @section-2 @section-4 @last
  @writes
  Rule: Every join-run response matches the OpenAPI contract
    "GET /threads/{thread_id}/runs/{run_id}/join ... Responds when the run completes"

    Scenario: Every join-run response in the test run matches the contract
      Given at least one response to "join-run" in the test run
      When all responses to "join-run" are compared with the contract
      Then all responses match the contract

  @AS-CONTRACT-get-run @must @section-2 @section-4 @last
  @writes
  Rule: Every get-run response matches the OpenAPI contract
    "GET /threads/{thread_id}/runs/{run_id} ... The run; fails with an HTTP error status when the run was rolled back
    and deleted"

    Scenario: Every get-run response in the test run matches the contract
      Given at least one response to "get-run" in the test run
      When all responses to "get-run" are compared with the contract
      Then all responses match the contract

  @AS-CONTRACT-get-state @must @section-2 @section-4 @last
  @writes
  Rule: Every get-state response matches the OpenAPI contract
    "Thread state: an object with values.messages, an array of message objects with at least type (observed kinds:
    human, ai, tool) and content."

    Scenario: Every get-state response in the test run matches the contract
      Given at least one response to "get-state" in the test run
      When all responses to "get-state" are compared with the contract
      Then all responses match the contract

  @AS-CONTRACT-list-threads @must @section-2 @section-4 @last
  Rule: Every list-threads or search-threads response matches the OpenAPI contract
    "GET /threads ... List of threads; used as the example of an authenticated request"
    Applies to the endpoint that lists the threads of this target: agent.listing, or the one that is served.

    Scenario: Every list-threads response in the test run matches the contract
      Given at least one response to "list-threads" in the test run
      When all responses to "list-threads" are compared with the contract
      Then all responses match the contract

    Scenario: Every search-threads response in the test run matches the contract
      Given at least one response to "search-threads" in the test run
      When all responses to "search-threads" are compared with the contract
      Then all responses match the contract
