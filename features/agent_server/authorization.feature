@agent-server @security
@shares:agent-server
Feature: Authorization at the agent server
  Authorization handlers return a filter that restricts access, typically to the owner of a thread. The filter is
  merged into the metadata of what is created.

  A conforming target may answer 403 or 404, or another 4xx, for another user's thread; refuse a filter with a 4xx.

  Background:
    Given a deployed agent server

  @AS-AUTHZ-1 @must @section-5 @isolation
  @needs:users.1 @writes
  Rule: GET of the state and of a run of another user's thread is answered with an HTTP error status, and a join tells nothing of the run
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    A join that is answered at once with 2xx and holds nothing of the run passes here and fails AS-RUN-9: no body, null, an
    empty object, `__error__` alone, or what the join of an unknown run is answered with. One that waits for the run fails.
    Judged in both directions: threads of the first user and of the second.

    Scenario Outline: The request of another user to <operation> of the <owner> user is answered with an HTTP error status
      Given the user is the <owner> configured user
      And a completed run
      When the other user tries to <operation>
      Then the request is answered with an HTTP error status

      Examples:
        | owner  | operation      |
        | first  | read the state |
        | first  | retrieve a run |
        | second | read the state |
        | second | retrieve a run |

    Scenario Outline: A thread of the <owner> user is not open to another user whom it names as owner
      Given the user is the <owner> configured user
      And a thread of the user that names the other user as owner
      When the other user tries to read the state
      Then the request is answered with an HTTP error status

      @needs:users.1.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.0.identity
      Examples:
        | owner  |
        | second |

    Scenario Outline: A run of the <owner> user is not retrieved by another user under a thread of their own
      Given the user is the <owner> configured user
      And a completed run
      When the other user tries to retrieve the run under a thread of their own
      Then the request is answered with an HTTP error status

      Examples:
        | owner  |
        | first  |
        | second |

    Scenario Outline: With a run of the <owner> user, the answer to another user who tries to <join> holds nothing of it
      Given the user is the <owner> configured user
      And a completed run
      When the other user tries to <join>
      Then the answer holds nothing of the run

      Examples:
        | owner  | join                                     |
        | first  | join a run                               |
        | first  | join the run under a thread of their own |
        | second | join a run                               |
        | second | join the run under a thread of their own |

    Scenario Outline: With a run in progress of the <owner> user, the answer to another user who tries to <join> does not wait for its end
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      When the other user, while it is in progress, tries to <join>
      Then the join is refused, or answered before the end of the run
      And the answer holds nothing of the run

      Examples:
        | owner  | join                                     |
        | first  | join a run                               |
        | first  | join the run under a thread of their own |
        | second | join a run                               |
        | second | join the run under a thread of their own |

  @AS-AUTHZ-2 @must @section-5 @slow
  @needs:users.1 @writes
  Rule: Starting a run on another user's thread is answered with an HTTP error status and leaves the thread unchanged
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    Judged with and without rollback. With rollback, a run in progress of the thread's owner must complete.
    Judged in both directions: threads of the first user and of the second.

    Scenario Outline: The request of another user to start <run> on a thread of the <owner> user is answered with an HTTP error status
      Given the user is the <owner> configured user
      And a completed run on a new thread
      When the other user tries to start <run>
      Then the request is answered with an HTTP error status

      Examples:
        | owner  | run                 |
        | first  | a run               |
        | first  | a run with rollback |
        | second | a run               |
        | second | a run with rollback |

    Scenario Outline: A run that another user was refused on a thread of the <owner> user was not created
      Given the user is the <owner> configured user
      And a completed run on a new thread
      And the other user was refused a run on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

      Examples:
        | owner  |
        | first  |
        | second |

    Scenario Outline: A run with rollback that another user was refused does not affect the run in progress of the <owner> user
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      And the other user was refused a run with rollback on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

      Examples:
        | owner  |
        | first  |
        | second |

  @AS-AUTHZ-3 @must @section-5 @isolation
  @needs:users.1 @writes
  Rule: A listing of threads returns only the caller's threads, whatever filter is sent
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    The requests send no filter, an empty filter, metadata that the threads of both users share, the ids of both
    threads, and the other user as owner. A filter may be refused with a 4xx. The listing endpoint that is not
    configured is judged too, where the target serves it.
    Judged in both directions: the lists of the first user and of the second.

    Scenario Outline: A list with <filter> returns no threads of the <owner> user to another user
      Given the user is the <owner> configured user
      And a thread of each of two users
      When the other user lists the threads with <filter>
      Then the list holds no thread of the user
      And the list holds the thread of the other user

      Examples:
        | owner  | filter                          |
        | first  | no filter                       |
        | first  | an empty filter                 |
        | first  | metadata that both threads have |
        | first  | the ids of both threads         |
        | second | no filter                       |
        | second | an empty filter                 |
        | second | metadata that both threads have |
        | second | the ids of both threads         |

    Scenario Outline: The other listing endpoint returns no threads of the <owner> user to another user
      Given the user is the <owner> configured user
      And a thread of each of two users
      When the other user lists the threads with the other listing endpoint
      Then the list holds no thread of the user

      Examples:
        | owner  |
        | first  |
        | second |

    Scenario Outline: A list filtered by the <owner> user as owner returns none of that user's threads to another user
      Given the user is the <owner> configured user
      And a thread of each of two users
      When the other user lists the threads with the user as owner
      Then the list holds no thread of the user

      @needs:users.0.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.1.identity
      Examples:
        | owner  |
        | second |

  @AS-AUTHZ-4 @should @section-5
  @writes
  Rule: The metadata of a new thread names the caller as owner, whatever owner was sent, and keeps the other keys sent
    "A typical filter is {owner: <identity>} and it is also merged into the payload metadata."
    The filter of the authorization handler is the typical one, owner with the identity of the caller. Where two users are
    configured, both are judged as the caller. A target may also refuse the thread with a 4xx if another owner was sent.

    Scenario Outline: The metadata of a new thread of the <owner> user names the caller as owner
      Given the user is the <owner> configured user
      When the user creates a thread
      Then its metadata names the user as owner

      @needs:users.0.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.1.identity
      Examples:
        | owner  |
        | second |

    Scenario Outline: The metadata of a new thread of the <owner> user names the caller as owner where another owner was sent
      Given the user is the <owner> configured user
      When the user creates a thread that names another owner
      Then its metadata names the user as owner

      @needs:users.0.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.1.identity
      Examples:
        | owner  |
        | second |

    @needs:users
    Scenario: The metadata of a new thread keeps the other keys sent
      When the user creates a thread with metadata
      Then its metadata holds the keys that were sent

  @AS-AUTHZ-6 @should @section-5
  @needs:users.1 @writes
  Rule: A vendor extension that serves a thread to its owner answers other users and callers without credentials with an HTTP error status
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    The operations are those of the contract that are marked as vendor extensions and name a thread; only who is served is
    judged. An answer of 2xx that an unknown thread gets too, and that holds nothing of the thread, may be given.
    Judged in both directions: threads of the first user and of the second.

    Scenario Outline: <operation> of a thread of the <owner> user serves nobody else
      Given the user is the <owner> configured user
      And a completed run
      When the other user, a caller without credentials and then the user try the vendor extension <operation>
      Then it serves the user at most

      Examples:
        | owner  | operation       |
        | first  | get-thread      |
        | first  | list-runs       |
        | first  | get-history     |
        | first  | find-checkpoint |
        | first  | search-history  |
        | first  | join-run-stream |
        | second | get-thread      |
        | second | list-runs       |
        | second | get-history     |
        | second | find-checkpoint |
        | second | search-history  |
        | second | join-run-stream |

    Scenario Outline: <operation> of a thread of the <owner> user serves nobody else, and others cannot change the thread by it
      Given the user is the <owner> configured user
      And a completed run on a new thread
      When the other user, a caller without credentials and then the user try the vendor extension <operation>
      Then it serves the user at most
      And the attempts of the others leave the thread unchanged

      Examples:
        | owner  | operation     |
        | first  | update-thread |
        | first  | delete-thread |
        | first  | delete-run    |
        | first  | copy-thread   |
        | first  | update-state  |
        | first  | wait-run      |
        | first  | stream-run    |
        | second | update-thread |
        | second | delete-thread |
        | second | delete-run    |
        | second | copy-thread   |
        | second | update-state  |
        | second | wait-run      |
        | second | stream-run    |

    Scenario Outline: cancel-run of a run in progress of the <owner> user serves nobody else
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      When the other user, a caller without credentials and then the user try the vendor extension cancel-run
      Then it serves the user at most

      Examples:
        | owner  |
        | first  |
        | second |

  @AS-AUTHZ-7 @should @section-5
  @writes
  Rule: No header that a caller may choose gives access to another user's thread
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    Each GET of the interface is sent by another user and without credentials, with headers that servers behind a proxy
    believe. Headers that the configuration names are left out.

    Scenario Outline: With <headers> <caller> is shown nothing of a user's run
      Given a completed run
      When <caller> reads the run with <headers>
      Then no answer shows anything of the run

      @needs:users.1
      Examples:
        | caller                       | headers                                              |
        | the other user               | headers that name the user                           |
        | the other user               | headers that claim a studio user or an administrator |
        | the other user               | headers that override the path                       |
        | the other user               | a header that overrides the method                   |

      @needs:users.1 @needs:separate_credentials @needs:credentials.api_key
      Examples: credentials of the control plane
        | caller                       | headers                                              |
        | the other user               | the API key of the control plane                     |

      @needs:users
      Examples:
        | caller                       | headers                                              |
        | a caller without credentials | headers that name the user                           |
        | a caller without credentials | headers that claim a studio user or an administrator |
        | a caller without credentials | headers that claim a request of this machine         |
        | a caller without credentials | headers that override the path                       |
        | a caller without credentials | a header that overrides the method                   |

  @AS-AUTHZ-5 @may @section-5 @after:AS-AUTH-5 @after:AS-THREAD-2
  @needs:users @needs:agent.studio_headers @writes
  Rule: A studio user can list and read other users' threads and runs where the authorization handler returns an empty filter
    "Returning an empty filter for such users permits developer access"

    Scenario Outline: The request of a studio user to <operation> of a user is answered with 2xx
      Given a completed run
      When a studio user tries to <operation>
      Then the request is answered with 2xx

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |

    Scenario: The list of a studio user contains the thread of a user
      Given a thread of the user
      When a studio user lists the threads
      Then the list holds the thread
