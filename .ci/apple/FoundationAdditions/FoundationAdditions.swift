// Foundation as on Apple's platforms, where it contains its networking; imported in every file of a
// module.
@_exported public import Foundation
@_exported public import FoundationNetworking
