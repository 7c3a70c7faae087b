// The page of the web sink, as the main package declares it.
#include "../../../../Libraries/CWebPage/include/CWebPage.h"
