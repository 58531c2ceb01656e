// The part of Combine that is used. It runs, so that what bridges to it can be tested.
//
// Signatures and rules: https://developer.apple.com/documentation/combine and, in open source,
// https://github.com/OpenCombine/OpenCombine (Sources/OpenCombine).
//
// It loads Foundation and shows it to who imports it, as Apple's does: an expression may get another
// type by that.
@_exported public import Foundation

public enum Subscribers {
  public struct Demand: Equatable, Comparable, Hashable, Sendable {
    public let max: Int?

    public static let unlimited = Demand(max: nil)
    public static let none = Demand(max: 0)
    public static func max(_ value: Int) -> Demand { Demand(max: value) }

    public static func < (one: Demand, other: Demand) -> Bool {
      guard let count = one.max else { return false }
      return other.max.map { count < $0 } ?? true
    }
  }

  public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }
}

extension Subscribers.Completion: Sendable where Failure: Sendable {}

public protocol Cancellable {
  func cancel()
}

public protocol CustomCombineIdentifierConvertible {
  var combineIdentifier: CombineIdentifier { get }
}

public struct CombineIdentifier: Hashable, Sendable {
  private let object: ObjectIdentifier
  public init(_ object: AnyObject) { self.object = ObjectIdentifier(object) }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  func request(_ demand: Subscribers.Demand)
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  associatedtype Input
  associatedtype Failure: Error
  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

public struct AnySubscriber<Input, Failure: Error>: Subscriber {
  public let combineIdentifier: CombineIdentifier
  private let base: any Subscriber<Input, Failure>

  public init<S: Subscriber>(_ subscriber: S) where Input == S.Input, Failure == S.Failure {
    combineIdentifier = subscriber.combineIdentifier
    base = subscriber
  }

  public func receive(subscription: any Subscription) { base.receive(subscription: subscription) }
  public func receive(_ value: Input) -> Subscribers.Demand { base.receive(value) }
  public func receive(completion: Subscribers.Completion<Failure>) {
    base.receive(completion: completion)
  }
}

public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
  func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input
}

extension Publisher {
  public func subscribe<S: Subscriber>(_ subscriber: S)
  where Failure == S.Failure, Output == S.Input {
    receive(subscriber: subscriber)
  }

  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
}

public struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let base: any Publisher<Output, Failure>

  public init<P: Publisher>(_ publisher: P) where Output == P.Output, Failure == P.Failure {
    base = publisher
  }

  public func receive<S: Subscriber>(subscriber: S)
  where Failure == S.Failure, Output == S.Input {
    base.receive(subscriber: subscriber)
  }
}
