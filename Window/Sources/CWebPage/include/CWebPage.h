// The page of the web sink, as the main package declares it.
#include "../../../../Sources/CWebPage/include/CWebPage.h"
