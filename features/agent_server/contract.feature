@agent-server
Feature: The answers of the agent server keep the contract
  Every answer that was seen in the run is held to the OpenAPI document, which is open where the interface is
  silent. (interface, sections 2 and 4)

  Background:
    Given a deployed agent server

  @AS-CONTRACT-create-thread @must @section-2 @section-4 @last
  Rule: Creating a thread: every answer matches the contract

    Scenario: Every answer to create-thread in this run matches the contract
      Given an answer to "create-thread" that was seen in this run
      When all answers to "create-thread" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-create-run @must @section-2 @section-4 @last
  Rule: Creating a run: every answer matches the contract

    Scenario: Every answer to create-run in this run matches the contract
      Given an answer to "create-run" that was seen in this run
      When all answers to "create-run" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-join-run @must @section-2 @section-4 @last
  Rule: Joining a run: every answer matches the contract

    Scenario: Every answer to join-run in this run matches the contract
      Given an answer to "join-run" that was seen in this run
      When all answers to "join-run" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-get-run @must @section-2 @section-4 @last
  Rule: Retrieving a run: every answer matches the contract

    Scenario: Every answer to get-run in this run matches the contract
      Given an answer to "get-run" that was seen in this run
      When all answers to "get-run" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-get-state @must @section-2 @section-4 @last
  Rule: Reading the state of a thread: every answer matches the contract

    Scenario: Every answer to get-state in this run matches the contract
      Given an answer to "get-state" that was seen in this run
      When all answers to "get-state" are held to the contract
      Then the contract has nothing against them

  @AS-CONTRACT-list-threads @must @section-2 @section-4 @last
  Rule: Listing the threads: every answer matches the contract

    Scenario: Every answer to list-threads in this run matches the contract
      Given an answer to "list-threads" that was seen in this run
      When all answers to "list-threads" are held to the contract
      Then the contract has nothing against them

    Scenario: Every answer to search-threads in this run matches the contract
      Given an answer to "search-threads" that was seen in this run
      When all answers to "search-threads" are held to the contract
      Then the contract has nothing against them
