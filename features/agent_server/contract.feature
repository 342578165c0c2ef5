@agent-server @form
@shares:agent-server @record
Feature: Contract of the agent server
  Every answer that the suite has received is compared with the OpenAPI document of the agent server, which allows any
  value where the interface specifies none.

  A conforming target may add fields to any object; write thread_id and run_id as strings or integers, and content as
  a string or an array of parts; answer a join with any JSON, plain text or no body; answer a refusal with any body;
  take 80 ms and more for every answer, with jitter.

  Background:
    Given a deployed agent server

  @AS-CONTRACT-create-thread @must @section-2 @section-4 @last
  @anonymous @writes
  Rule: Every answer to POST /threads matches the OpenAPI contract
    "POST /threads ... Thread with thread_id"

    Scenario: Every answer to create-thread in this run matches the contract
      Given at least one answer to "create-thread" in this run
      When all answers to "create-thread" are compared with the contract
      Then all answers match the contract

  @AS-CONTRACT-create-run @must @section-2 @section-4 @last
  @anonymous @writes
  Rule: Every answer to POST /threads/{thread_id}/runs matches the OpenAPI contract
    "POST /threads/{thread_id}/runs ... Run with run_id"

    Scenario: Every answer to create-run in this run matches the contract
      Given at least one answer to "create-run" in this run
      When all answers to "create-run" are compared with the contract
      Then all answers match the contract

  @AS-CONTRACT-join-run @must @section-2 @section-4 @last
  @anonymous
  Rule: Every answer to GET /threads/{thread_id}/runs/{run_id}/join matches the OpenAPI contract
    "GET /threads/{thread_id}/runs/{run_id}/join ... Responds when the run completes"

    Scenario: Every answer to join-run in this run matches the contract
      Given at least one answer to "join-run" in this run
      When all answers to "join-run" are compared with the contract
      Then all answers match the contract

  @AS-CONTRACT-get-run @must @section-2 @section-4 @last
  @anonymous
  Rule: Every answer to GET /threads/{thread_id}/runs/{run_id} matches the OpenAPI contract
    "GET /threads/{thread_id}/runs/{run_id} ... The run; fails with an HTTP error status when the run was rolled back
    and deleted"

    Scenario: Every answer to get-run in this run matches the contract
      Given at least one answer to "get-run" in this run
      When all answers to "get-run" are compared with the contract
      Then all answers match the contract

  @AS-CONTRACT-get-state @must @section-2 @section-4 @last
  @anonymous
  Rule: Every answer to GET /threads/{thread_id}/state matches the OpenAPI contract
    "Thread state: an object with values.messages, an array of message objects with at least type (observed kinds:
    human, ai, tool) and content."

    Scenario: Every answer to get-state in this run matches the contract
      Given at least one answer to "get-state" in this run
      When all answers to "get-state" are compared with the contract
      Then all answers match the contract

  @AS-CONTRACT-list-threads @must @section-2 @section-4 @last
  @anonymous
  Rule: Every answer to GET /threads, or POST /threads/search, matches the OpenAPI contract
    "GET /threads ... List of threads; used as the example of an authenticated request"
    Applies to the endpoint that lists the threads of this target (agent.listing, or the one that is served).

    Scenario: Every answer to list-threads in this run matches the contract
      Given at least one answer to "list-threads" in this run
      When all answers to "list-threads" are compared with the contract
      Then all answers match the contract

    Scenario: Every answer to search-threads in this run matches the contract
      Given at least one answer to "search-threads" in this run
      When all answers to "search-threads" are compared with the contract
      Then all answers match the contract
