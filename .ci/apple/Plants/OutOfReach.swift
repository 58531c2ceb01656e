import UIKit

@MainActor func planted() -> UIApplication { UIApplication.shared }
