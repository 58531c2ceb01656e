// What SwiftUI shows to who imports it, and those of its names that a view has.
//
// Signatures: https://developer.apple.com/documentation/swiftui.
@_exported public import Combine
@_exported public import CoreGraphics
@_exported public import Foundation
@_exported public import Observation
#if canImport(UIKit)
  @_exported public import UIKit
#endif

@MainActor public protocol View {
  associatedtype Body: View
  var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError() }
}

public struct Text: View {
  public init(_ text: String) {}
  public var body: Never { fatalError() }
}

@propertyWrapper public struct State<Value> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension View {
  public func task(_ action: @escaping @Sendable () async -> Void) -> some View { self }
}

// Other names that every view has in sight.
public struct Animation {}
public struct Binding<Value> {}
public struct Environment<Value> {}
public struct Gesture {}
public struct Group {}
public struct Image {}
public struct Layout {}
public struct List {}
public struct Section {}
public struct Transaction {}
