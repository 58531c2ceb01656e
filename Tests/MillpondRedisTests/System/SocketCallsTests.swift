import Foundation
import Testing
import MillpondSockets

@testable import MillpondRedis

@Suite struct SocketCallsTests {
  @Test func `what a process without standard streams prints goes to no server`() async {
    await #expect(processExitsWith: .success) {
      for descriptor in Int32(0)...2 { _ = close(descriptor) }

      let socket = try SocketCalls.open(family: AF_INET)
      let (readEnd, writeEnd) = try SocketCalls.openPipe()

      #expect(socket > 2)
      #expect(readEnd > 2)
      #expect(writeEnd > 2)
      for descriptor in [socket, readEnd, writeEnd] {
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
      }
    }
  }
}
