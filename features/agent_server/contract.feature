@agent-server
Feature: The answers of the agent server keep the contract
  Every answer that the suite has seen is compared with the OpenAPI document of the agent server, which is open where
  the interface is silent.

  A conforming target may add fields to any object; write thread_id and run_id as strings or integers, and content as
  a string or an array of parts; answer a join with any JSON, plain text or no body; answer a refusal with any body;
  take 80 ms and more for every answer, with jitter.

  Background:
    Given a deployed agent server

  @AS-CONTRACT-create-thread @must @section-2 @section-4 @last
  Rule: Every answer to POST /threads matches the OpenAPI contract

    Scenario: Every answer to create-thread in this run matches the contract
      Given an answer to "create-thread" that was seen in this run
      When all answers to "create-thread" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-create-run @must @section-2 @section-4 @last
  Rule: Every answer to POST /threads/{thread_id}/runs matches the OpenAPI contract

    Scenario: Every answer to create-run in this run matches the contract
      Given an answer to "create-run" that was seen in this run
      When all answers to "create-run" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-join-run @must @section-2 @section-4 @last
  Rule: Every answer to GET /threads/{thread_id}/runs/{run_id}/join matches the OpenAPI contract

    Scenario: Every answer to join-run in this run matches the contract
      Given an answer to "join-run" that was seen in this run
      When all answers to "join-run" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-get-run @must @section-2 @section-4 @last
  Rule: Every answer to GET /threads/{thread_id}/runs/{run_id} matches the OpenAPI contract

    Scenario: Every answer to get-run in this run matches the contract
      Given an answer to "get-run" that was seen in this run
      When all answers to "get-run" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-get-state @must @section-2 @section-4 @last
  Rule: Every answer to GET /threads/{thread_id}/state matches the OpenAPI contract

    Scenario: Every answer to get-state in this run matches the contract
      Given an answer to "get-state" that was seen in this run
      When all answers to "get-state" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-list-threads @must @section-2 @section-4 @last
  Rule: Every answer to GET /threads, or POST /threads/search, matches the OpenAPI contract
    Judged is the call by which the threads of this target are listed (agent.listing).

    Scenario: Every answer to list-threads in this run matches the contract
      Given an answer to "list-threads" that was seen in this run
      When all answers to "list-threads" are held to the contract
      Then the contract has nothing against them

    Scenario: Every answer to search-threads in this run matches the contract
      Given an answer to "search-threads" that was seen in this run
      When all answers to "search-threads" are held to the contract
      Then the contract has nothing against them
