import Foundation
import Synchronization

/// Counts the objects that the Swift runtime allocates, through the hook it has for instruments.
///
/// An object (an instance, a closure's context, an array) is one `malloc`. Swift won't let us
/// define a `malloc` of our own to count the few others; with the hook, timing is undisturbed.
///
/// While the hook is set, the runtime takes the second word of a short string for an object and
/// crashes in retaining it (Swift 6.3 on Linux: `_swift_retain` is passed a pointer without the bits
/// that tell them apart). Work that copies short strings, as a topology's titles, is not counted.
enum AllocationCount {
  private typealias Hook = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

  // All three point into the runtime, and only `during` writes there.
  nonisolated(unsafe) private static let hook: UnsafeMutablePointer<Hook>? =
    symbol("_swift_allocObject")
  nonisolated(unsafe) private static let isHooked: UnsafeMutablePointer<Bool>? =
    symbol("_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")
  private static let original = hook?.pointee

  private static let count = Atomic<Int>(0)

  private static func symbol<Value>(_ name: String) -> UnsafeMutablePointer<Value>? {
    dlsym(dlopen(nil, RTLD_NOW), name)?.assumingMemoryBound(to: Value.self)
  }

  /// Returns the number of objects that `body` allocates; nil if the runtime has no such hook.
  static func during(_ body: () -> Void) -> Int? {
    guard let hook, let isHooked, let original else {
      body()
      return nil
    }
    count.store(0, ordering: .relaxed)
    hook.pointee = { metadata, size, alignment in
      AllocationCount.count.wrappingAdd(1, ordering: .relaxed)
      return AllocationCount.original?(metadata, size, alignment)
    }
    isHooked.pointee = true
    body()
    isHooked.pointee = false
    hook.pointee = original
    return count.load(ordering: .relaxed)
  }
}
