@agent-server
Feature: What the agent server never says
  (interface, section 7)

  Background:
    Given a deployed agent server

  @AS-ERROR-1 @must @section-7 @last
  Rule: The agent server never answers with a server error
    A 503 that says when to come back is obeyed, and counted.

    Scenario: No request of this run was answered with a status of 500 or above by the agent server
      Given an agent server that answered in this run
      When all its answers are looked at
      Then none is a server error
