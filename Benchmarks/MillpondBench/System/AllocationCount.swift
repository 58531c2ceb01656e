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

  private struct Runtime: @unchecked Sendable {
    // Sendable because both point into the runtime, and only `during` writes there.
    let hook: UnsafeMutablePointer<Hook>
    let isHooked: UnsafeMutablePointer<Bool>
    let original: Hook
  }

  private static let runtime: Runtime? = {
    let process = dlopen(nil, RTLD_NOW)
    guard
      let hook = dlsym(process, "_swift_allocObject"),
      let isHooked = dlsym(
        process, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")
    else { return nil }
    let place = hook.assumingMemoryBound(to: Hook.self)
    return Runtime(
      hook: place, isHooked: isHooked.assumingMemoryBound(to: Bool.self), original: place.pointee)
  }()

  private static let count = Atomic<Int>(0)

  /// Returns the number of objects that `body` allocates; nil if the runtime has no such hook.
  static func during(_ body: () -> Void) -> Int? {
    guard let runtime else {
      body()
      return nil
    }
    count.store(0, ordering: .relaxed)
    runtime.hook.pointee = { metadata, size, alignment in
      AllocationCount.count.wrappingAdd(1, ordering: .relaxed)
      return AllocationCount.runtime?.original(metadata, size, alignment)
    }
    runtime.isHooked.pointee = true
    body()
    runtime.isHooked.pointee = false
    runtime.hook.pointee = runtime.original
    return count.load(ordering: .relaxed)
  }
}
