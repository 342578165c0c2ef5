@control-plane
Feature: The answers of the control plane keep the contract
  Every answer that was seen in the run is held to the OpenAPI document: its status is declared, its content
  type and its body are those of the schema, formats included. (interface, sections 2 and 4)

  @CP-CONTRACT-create-deployment @must @section-2 @section-4 @last
  Rule: Creating a deployment: every answer matches the contract

    Scenario: Every answer to create-deployment in this run matches the contract
      Given an answer to "create-deployment" that was seen in this run
      When all answers to "create-deployment" are held to the contract
      Then the contract has nothing against them

  @CP-CONTRACT-get-deployment @must @section-2 @section-4 @last
  Rule: Retrieving a deployment: every answer matches the contract

    Scenario: Every answer to get-deployment in this run matches the contract
      Given an answer to "get-deployment" that was seen in this run
      When all answers to "get-deployment" are held to the contract
      Then the contract has nothing against them

  @CP-CONTRACT-update-deployment @must @section-2 @section-4 @last
  Rule: Updating a deployment: every answer matches the contract

    Scenario: Every answer to update-deployment in this run matches the contract
      Given an answer to "update-deployment" that was seen in this run
      When all answers to "update-deployment" are held to the contract
      Then the contract has nothing against them

  @CP-CONTRACT-list-revisions @must @section-2 @section-4 @last
  Rule: Listing the revisions: every answer matches the contract

    Scenario: Every answer to list-revisions in this run matches the contract
      Given an answer to "list-revisions" that was seen in this run
      When all answers to "list-revisions" are held to the contract
      Then the contract has nothing against them

  @CP-CONTRACT-get-revision @must @section-2 @section-4 @last
  Rule: Retrieving a revision: every answer matches the contract

    Scenario: Every answer to get-revision in this run matches the contract
      Given an answer to "get-revision" that was seen in this run
      When all answers to "get-revision" are held to the contract
      Then the contract has nothing against them
