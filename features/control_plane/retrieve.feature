@control-plane
Feature: Retrieving a deployment
  (interface, sections 1, 2, 4 and 7)

  @CP-GET-1 @must @section-1 @section-2
  Rule: Retrieving answers with the deployment that was created

    Scenario: The deployment is the one that was created
      Given a deployment that is up
      When the client retrieves the deployment
      Then the deployment has the id, source and latest revision of the one that was created

    Scenario: Of two deployments each is answered under its own id
      Given two deployments
      When the client retrieves both
      Then each answer is the deployment that was asked for

  @CP-GET-2 @must @section-4 @section-7
  Rule: An unknown deployment is not found

    Scenario: A deployment that was never created is not found
      When the client retrieves an unknown deployment
      Then the answer is not found, with a detail

  @CP-GET-3 @should @section-4 @section-7
  Rule: A deployment id that is no uuid is refused as invalid
    Answered 422 with the reasons. Another status of refusal is tolerated, and noted.

    Scenario Outline: The deployment id "<id>" is refused
      When the client retrieves the deployment with the id "<id>"
      Then the request is refused as invalid

      Examples:
        | id                                    |
        | not-a-uuid                            |
        | 12345                                 |
        | 00000000-0000-0000-0000-00000000000g  |
        | 00000000-0000-0000-0000-0000000000001 |
